"""What is kept of every recorded step: one table, read by the recorder, the records, the downloads and the charts.

A row is all that a new quantity needs; for a chart of its own it takes a panel (`dashboard/browser/race_panels.py`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Step(NamedTuple):
    """What a step knows of itself, or of a group of layers: tensors with a number for each lane. nan where a race does
    not measure."""

    loss: Any
    grad_norm: Any  # before clipping and coupled decay
    update_norm: Any  # without decoupled decay, which is no answer to the gradient
    parameter_norm: Any  # before the step
    angle: Any  # by which the whole step turns the parameters, decay and all
    parameters: int  # how many there are in a lane


@dataclass(frozen=True)
class Quantity:
    name: str  # in a record, in a table and in a trace's meta
    axis: str  # on a chart
    measure: Callable[[Step], Any]
    by_group: bool = False  # at the histogram steps it is measured for each group of layers, too


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("loss", "training loss", lambda step: step.loss),
        Quantity("grad_norm", "gradient norm", lambda step: step.grad_norm, by_group=True),
        Quantity(
            "update_rms", "update, RMS", lambda step: step.update_norm / math.sqrt(step.parameters), by_group=True
        ),
        Quantity(
            "relative_update", "‖update‖ / ‖θ‖", lambda step: step.update_norm / step.parameter_norm, by_group=True
        ),
        Quantity("angle", "θ turned, degrees", lambda step: step.angle, by_group=True),
    )
}
BY_GROUP = tuple(name for name, quantity in QUANTITIES.items() if quantity.by_group)
