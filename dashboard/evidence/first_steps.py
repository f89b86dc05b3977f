"""What a lane's first steps did, one by one, as plain numbers: hashable, so that a figure of them is drawn once."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstSteps:
    """Of one lane, as far as it has come; all of the same length but `layers`, which names the norms' columns."""

    steps: tuple[int, ...] = ()
    quartiles: tuple[tuple[float, float, float], ...] = ()  # of log10|g| over the parameters, without exact zeros
    update_rms: tuple[float, ...] = ()
    layers: tuple[str, ...] = ()
    by_layer: tuple[tuple[float, ...], ...] = ()  # the gradient's norm, by step and layer

    def norms_at(self, step: int) -> tuple[float, ...]:
        """By layer; empty if the step is not there."""
        return self.by_layer[self.steps.index(step)] if step in self.steps else ()
