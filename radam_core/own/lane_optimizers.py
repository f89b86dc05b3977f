"""Every lane's own optimizer, scheduler and clipping, on the rows, in the form in which a race steps and measures."""

from collections.abc import Sequence

import torch
from torch import Tensor

from radam_core.own.entrants import Entrant, Made
from radam_core.own.rows import Rows
from radam_core.own.settings_told import decoupled_decay
from radam_core.race.stacked import ALL, Sizes, angle

_CLIP_EPS = 1e-6  # in torch.nn.utils.clip_grad_norm_


class LaneOptimizers:
    """A stopped lane rests at zero, where everything is finite."""

    def __init__(self, rows: Rows, entrants: Sequence[Entrant], made: Sequence[Made]) -> None:
        self.rows, self.entrants, self.made, self.t = rows, entrants, list(made), 0
        self.alive = [True] * len(entrants)
        self.scratch = torch.empty_like(rows.buffer)  # between two steps anyone's
        self.lrs: list[float] = []  # of the latest step's first groups, by lane
        self._whole = [entrant.by_element for entrant in entrants]
        self._grads = [
            [rows.part(rows.grad, k, name) for name in rows.names] for k in range(len(entrants))
        ]  # views, made once

    def stop(self, lane: int) -> None:
        self.alive[lane] = False
        for values in (self.rows.buffer, self.rows.grad):
            values[lane] = 0.0

    def grad_norms(self) -> Tensor:
        return torch.linalg.vector_norm(self.rows.grad, dim=1)

    @torch.no_grad()
    def step(self, grad_norms: Tensor, parts: Sequence[slice] = ALL) -> Sizes | None:
        """One step of every lane that is alive, measured in these parts, if any."""
        self.t += 1
        theta, size = self.rows.buffer, self.scratch
        parameters = [torch.linalg.vector_norm(theta[:, part], dim=1) for part in parts]
        self.lrs = [float(optimizer.param_groups[0]["lr"]) for optimizer, _ in self.made]
        if parts:
            kept = [1 - decoupled_decay(optimizer, self.t) for optimizer, _ in self.made]
            torch.mul(theta, theta.new_tensor(kept).unsqueeze(1), out=size)
        norms = grad_norms.tolist()
        for k, alive in enumerate(self.alive):
            if alive:
                self._step(k, norms[k])
        if not parts:
            return None
        size -= theta
        updates = [torch.linalg.vector_norm(size[:, part], dim=1) for part in parts]
        angles = [angle(theta[:, part], size[:, part]) for part in parts]
        return Sizes(torch.stack(updates), torch.stack(parameters), torch.stack(angles))

    def _step(self, k: int, norm: float) -> None:
        scale = self.entrants[k].clip / (norm + _CLIP_EPS)
        if scale < 1:
            self.rows.grad[k] *= scale
        if self._whole[k] and not all(self.rows.present[k]):
            self._take_apart(k)
        if self._whole[k]:
            self.rows.whole[k].grad = self.rows.grad[k]
        else:
            for p, grad, present in zip(self.rows.parameters[k], self._grads[k], self.rows.present[k], strict=True):
                p.grad = grad if present else None
        optimizer, scheduler = self.made[k]
        optimizer.step()
        if scheduler is not None:
            scheduler.step()

    def _take_apart(self, k: int) -> None:
        """A lane with one long parameter goes on with the model's own: some of them have no gradient in this step."""
        whole, (before, _) = self.rows.whole[k], self.made[k]
        optimizer, scheduler = self.entrants[k].make(self.rows.parameters[k])
        for name, p in zip(self.rows.names, self.rows.parameters[k], strict=True):
            for key, value in before.state[whole].items():
                apart = value[self.rows.spans[name]].view_as(p) if isinstance(value, Tensor) else value
                optimizer.state[p][key] = apart
        self._whole[k], self.made[k] = False, (optimizer, scheduler)

    @property
    def exp_avg(self) -> Tensor:
        return self._moment("exp_avg")

    @property
    def exp_avg_sq(self) -> Tensor:
        return self._moment("exp_avg_sq")

    def _moment(self, name: str) -> Tensor:
        """[K, N]; zero where an optimizer keeps none of that shape."""
        found = torch.zeros_like(self.rows.buffer)
        for k, (optimizer, _) in enumerate(self.made):
            whole = self._whole[k]
            places = [found[k]] if whole else [self.rows.part(found, k, path) for path in self.rows.names]
            for place, p in zip(places, [self.rows.whole[k]] if whole else self.rows.parameters[k], strict=True):
                value = optimizer.state.get(p, {}).get(name) if self.alive[k] else None
                if isinstance(value, Tensor) and value.shape == p.shape:
                    place.copy_(value)
        return found
