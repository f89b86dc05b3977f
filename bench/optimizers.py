"""`RAdam.step` against torch's own RAdam, and against fused AdamW, on three lists of tensors; and under OneCycleLR."""

from collections.abc import Callable, Iterator

import torch

from bench.interleaved import Result, medians, slowdown, speedup
from radam_core import RAdam

Shape = tuple[int, ...]


def resnet20() -> list[Shape]:
    """The parameter shapes of the CIFAR-10 ResNet-20: 59 tensors, 270k parameters."""
    shapes: list[Shape] = [(16, 3, 3, 3), (16,), (16,)]
    width = 16
    for out in (16, 32, 64):
        for _ in range(3):
            shapes += [(out, width, 3, 3), (out,), (out,), (out, out, 3, 3), (out,), (out,)]
            width = out
    return [*shapes, (10, 64), (10,)]


LISTS: dict[str, tuple[list[Shape], int]] = {
    "220 small tensors, 131k": ([(596,)] * 220, 200),
    "ResNet-20, 270k": (resnet20(), 200),
    "60 tensors, 20M": ([(333_334,)] * 60, 12),
}


def run() -> Iterator[Result]:
    for name, (shapes, repeats) in LISTS.items():
        optimizers = {
            "ours": RAdam(_parameters(shapes)),
            "torch RAdam": torch.optim.RAdam(_parameters(shapes)),
            "torch RAdam foreach": torch.optim.RAdam(_parameters(shapes), foreach=True),
            "AdamW fused": torch.optim.AdamW(_parameters(shapes), fused=True),
        }
        # Ten steps first, so that every RAdam is past its momentum-only phase.
        times = medians({key: optimizer.step for key, optimizer in optimizers.items()}, repeats, warmup=10)
        large = name.endswith("20M")
        yield speedup(f"step, {name}: over torch RAdam", "ours", "torch RAdam", 4, times)
        yield speedup(f"step, {name}: over foreach", "ours", "torch RAdam foreach", 4 if large else 2, times)
        if large:
            yield slowdown(f"step, {name}: of fused AdamW's time", "ours", "AdamW fused", 1.3, times)
    yield _one_cycle()


def _one_cycle() -> Result:
    """A step with its scheduler, which changes lr and beta1 at every step, against one that changes lr alone."""
    name, (shapes, repeats) = next(iter(LISTS.items()))
    contenders = {"beta1 and lr": _scheduled(shapes, True), "lr alone": _scheduled(shapes, False)}
    times = medians(contenders, 3 * repeats, warmup=10)
    return slowdown(
        f"step, {name.split(',')[0]}: OneCycleLR's with beta1, of lr alone", "beta1 and lr", "lr alone", 1.2, times
    )


def _scheduled(shapes: list[Shape], cycle_momentum: bool) -> Callable[[], None]:
    optimizer = RAdam(_parameters(shapes))
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-3, total_steps=100_000, cycle_momentum=cycle_momentum
    )

    def step() -> None:
        optimizer.step()
        scheduler.step()

    return step


def _parameters(shapes: list[Shape]) -> list[torch.Tensor]:
    params = [torch.randn(shape, requires_grad=True) for shape in shapes]
    for p in params:
        p.grad = torch.randn_like(p)
    return params
