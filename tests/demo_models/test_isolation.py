"""A lane with an absurd learning rate, and measuring itself, leave the other lanes of these tasks bit-identical."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from demo_models.descriptions import DIGITS, TEXT
from demo_models.initial import seeded
from radam_core.methods import METHODS
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race
from radam_core.race.threads import one_thread

SMALL = {"digits": (DIGITS, {"width": 4}), "text": (TEXT, {"vocabulary": 200, "width": 16, "length": 8, "context": 4})}


def run(name: str, other_lr: float, measure: bool = True) -> Race:
    task, settings = SMALL[name]
    lanes = [Lane(label=str(n), method=METHODS[m], lr=lr) for n, (m, lr) in enumerate(OTHERS)]
    lanes.insert(1, Lane(label="other", method=METHODS["sgd"], lr=other_lr))
    plan = RacePlan(lanes=tuple(lanes), steps=12, batch_size=8, evaluate_every=6, measure=measure, device="cpu")
    race = Race(task.open(settings), plan)
    for t in range(1, 13):
        race.step(t)
    return race


OTHERS = (("adam", 1e-2), ("radam", 1e-2))


@one_thread()
@pytest.mark.parametrize("name", SMALL)
def test_a_lane_that_is_lost_and_one_that_is_not_measured_change_nothing_elsewhere(name):
    calm, wild, unmeasured = run(name, 1e-2), run(name, 1e30), run(name, 1e-2, measure=False)
    assert wild.diverged_at[1] is not None
    assert calm.diverged_at == [None, None, None]
    for lane in (0, 2):
        assert torch.equal(calm.lanes.buffer[lane], wild.lanes.buffer[lane])
    assert torch.equal(calm.lanes.buffer, unmeasured.lanes.buffer)
    calm_metrics, wild_metrics = calm.evaluate(), wild.evaluate()
    for metric, values in calm_metrics.items():
        assert values[[0, 2]].tolist() == wild_metrics[metric][[0, 2]].tolist()


def test_models_made_in_two_threads_at_once_are_those_of_their_seeds():
    """Workers of several packs make them so, and torch has one generator for all threads."""

    def weights(seed):
        with seeded(seed):
            return [torch.rand(64) for _ in range(200)]

    alone = [weights(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(weights, range(4)))
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(torch.stack(one), torch.stack(other))
