"""What a race needs of a task, once it is opened: a model, batches, a loss and metrics.

The tensors of a batch have no lane axis; a race adds one in front. `loss` and `evaluate` are written once, for a plain
`nn.Module` and for a stacked one: all axes are counted from the end, so that results have shape [] for a plain model
and [lanes] for a stacked one. `radam_core/race/lanes.py` says how a model must be written. What is written otherwise is
found before anything is trained, by `lane_check.py` beside it: it compares the first loss and gradient of every lane
with the plain model's.
"""

from typing import Protocol

from torch import Tensor, nn

Batch = tuple[Tensor, ...]


class Problem(Protocol):
    def make_model(self, seed: int) -> nn.Module:
        """The plain model with its initial weights in float32, the same for the same seed (use your own generator)."""
        ...

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """Batch number `step` (from 1) of the stream `seed`: a function of its arguments, so any step can be asked.

        The first axis of every tensor counts the examples: a race may cut them into halves (`spread.py`)."""
        ...

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """The mean training loss over the batch, one number per lane; never across lanes."""
        ...

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        """The metrics that `Task.metrics` names, on held-out data, one number per lane; called without gradients and
        with the model in eval mode."""
        ...

    def group(self, parameter: str) -> str:
        """The histogram group (a layer or a few, at most eight in all) of a parameter of the plain model, by name.

        A problem may also have `layer(parameter)`, a finer name of the same kind, for the gradient's norm by layer; its
        groups are the layers of one that has none."""
        ...
