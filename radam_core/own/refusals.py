"""What a race of an own model refuses, all at once and before anything is trained; and the making of what it needs."""

import copy
from collections.abc import Callable, Iterator

import torch
from torch import nn

from radam_core.domains import check_count
from radam_core.own.batches import refusal as batches_refusal
from radam_core.own.entrants import Entrant, Made
from radam_core.own.rows import Rows
from radam_core.own.ways import IN_WORDS

Model = nn.Module | Callable[[], nn.Module]


def made_model(model: Model) -> nn.Module:
    made = model if isinstance(model, nn.Module) else model()
    if not isinstance(made, nn.Module):
        raise ValueError(f"model must be a module, or a function that gives one, got {type(made).__name__}")
    trained = [(name, p) for name, p in made.named_parameters() if p.requires_grad]
    if not trained:
        raise ValueError("model must have parameters to train, got none with requires_grad=True")
    kinds = {(p.dtype, p.device) for _, p in trained}
    if len(kinds) > 1 or next(iter(kinds))[0] not in (torch.float32, torch.float64):
        told = ", ".join(sorted(f"{str(dtype).removeprefix('torch.')} on {device}" for dtype, device in kinds))
        raise ValueError(f"the model's parameters must all be float32, or all float64, on one device, got {told}")
    try:
        return copy.deepcopy(made)
    except Exception as error:
        raise ValueError(
            f"model must be one that copy.deepcopy can copy, once for every lane, got {type(error).__name__}: {error}"
        ) from error


def made_optimizers(found: list[Entrant], rows: Rows) -> tuple[list[Made], list[str]]:
    made, refused = [], []
    for entrant, whole, several in zip(found, rows.whole, rows.parameters, strict=True):
        parameters = [whole] if entrant.by_element else several
        try:
            one = entrant.make(parameters)
        except Exception as error:
            refused.append(f"lane {entrant.label!r}: its optimizer could not be made: {error}")
            continue
        strange = {id(p) for group in one[0].param_groups for p in group["params"]} - set(map(id, parameters))
        if strange:
            refused.append(
                f"lane {entrant.label!r}: its optimizer must move the parameters that it is given, and no others"
            )
        made.append(one)
    return made, refused


def refusals(
    model: object, loss: object, batches: object, evaluate: object, way: str | None, steps: int
) -> Iterator[str]:
    """What can be seen before anything is made."""
    if not isinstance(model, nn.Module) and not callable(model):
        yield f"model must be a module, or a function that gives one, got {type(model).__name__}"
    if not callable(loss):
        yield f"loss must be a function loss(model, batch), got {type(loss).__name__}"
    if evaluate is not None and not callable(evaluate):
        yield f"evaluate must be a function of the model, or None, got {type(evaluate).__name__}"
    if way not in (None, *IN_WORDS):
        yield f"way must be one of {', '.join(IN_WORDS)}, or None, got {way!r}"
    told = batches_refusal(batches)
    if told is not None:
        yield told
    try:
        check_count("steps", steps)
    except (TypeError, ValueError) as error:
        yield str(error)


def all_at_once(refused: list[str]) -> str:
    return (
        refused[0]
        if len(refused) == 1
        else "\n".join([f"{len(refused)} things to change:", *(f"- {one}" for one in refused)])
    )
