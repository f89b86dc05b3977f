"""Which lanes are stacked beside a lane leaves no trace in its frames, to the bit, at one thread and one seed.

A lane alone is the oracle: it is compared with itself in packs of other widths and at other places in them, beside
lanes of other methods, one of which diverges. Six steps cross the one at which RAdam begins to adapt. Sizes are odd
where a task allows it: a lane's numbers then begin at another place in memory in each row of the stack.
"""

from dataclasses import fields, replace
from functools import cache

import pytest
import torch
from torch import nn

from demo_models import TASKS
from radam_core import METHODS
from radam_core.race.frames import Frame, frame_of
from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race, race
from radam_core.race.threads import one_thread
from tests.demo_models.test_images import problem as images
from tests.radam_core.test_race import same

STEPS = 6
# By name: the task, the batch's size, and a learning rate at which it trains.
CASES = {
    "surfaces": (lambda: TASKS["surfaces"].open(), 1, 1e-2),
    "numbers": (lambda: TASKS["numbers"].open({"depth": 1, "width": 16, "heads": 2}), 4, 6e-3),
    "numbers, odd": (lambda: TASKS["numbers"].open({"depth": 1, "width": 18, "heads": 3, "norm": "pre"}), 1, 6e-3),
    "text": (lambda: TASKS["text"].open({"width": 16, "vocabulary": 200, "length": 8, "context": 4}), 4, 1e-2),
    "text, odd": (lambda: TASKS["text"].open({"width": 9, "vocabulary": 201, "length": 7, "context": 3}), 1, 1e-2),
    "digits": (lambda: TASKS["digits"].open(), 8, 1e-2),
    "digits, narrow": (lambda: TASKS["digits"].open({"width": 3}), 3, 1e-2),
    "images": (
        lambda: images(width=8),
        2,
        3e-3,
    ),  # a stem of three channels to eight: two lanes of it are few, three not
    "images, ResNet-18": (lambda: images(depth=18, width=4), 2, 3e-3),
}
PACKS = [(2, 1), (3, 0), (7, 3), (28, 13)]  # lanes in it, and the place of the first that is compared


@cache
def opened(case):
    return CASES[case][0]()


@one_thread()
def frames(case, lanes):
    _, batch_size, _ = CASES[case]
    plan = RacePlan(lanes=tuple(lanes), steps=STEPS, batch_size=batch_size, evaluate_every=STEPS, device="cpu")
    return list(race(opened(case), with_halves(plan)))


def with_halves(plan):
    """Half batches through the second histogram step, where there is something to halve."""
    return replace(plan, half_batch_steps=5 if plan.batch_size > 1 else 0)


def lanes_of(case, count):
    """Lanes of all methods; the first adapts from step 5 on and is clipped, the second diverges."""
    lr, names = CASES[case][2], ("radam", "sgd", *METHODS)
    lanes = [
        Lane(
            label=str(k),
            method=METHODS[names[k % len(names)]],
            lr=lr * (0.2 + 0.05 * k),
            weight_decay=(0.0, 0.1, 1e-3)[k % 3],
            clip=(0.5, None)[k % 2],
        )
        for k in range(count)
    ]
    lanes[1:2] = [replace(lane, lr=1e6) for lane in lanes[1:2]]
    return lanes


@cache
def alone(case, k):
    return frames(case, [lanes_of(case, 2)[k]])


def assert_same_lane(pack, place, expected):
    """Frame by frame; a lane that is lost by itself ends its race, and in a pack it rests."""
    of_lane = [frame_of(frame, slice(place, place + 1)) for frame in pack]
    assert of_lane[-1].diverged_at == expected[-1].diverged_at
    if of_lane[-1].diverged_at != (None,):
        of_lane, expected = of_lane[:1], expected[:1]
    for ours, theirs in zip(of_lane, expected, strict=True):
        for f in fields(Frame):
            assert same(getattr(ours, f.name), getattr(theirs, f.name)), (ours.number, f.name)


@pytest.mark.parametrize(("width", "place"), PACKS)
@pytest.mark.parametrize("case", CASES)
def test_a_lane_is_the_same_in_every_pack(case, width, place):
    lanes = lanes_of(case, width)
    pack = frames(case, lanes[-place:] + lanes[:-place] if place else lanes)
    assert_same_lane(pack, place, alone(case, 0))
    assert_same_lane(pack, (place + 1) % width, alone(case, 1))
    assert pack[-1].diverged_at[(place + 1) % width] is not None


@pytest.mark.parametrize("case", CASES)
def test_lanes_that_leave_take_no_bit_of_the_others_along(case):
    """Batch norm's averages, the moments and the place in the schedule stay the lane's own."""
    _, batch_size, _ = CASES[case]
    plan = RacePlan(lanes=tuple(lanes_of(case, 4)), steps=STEPS, batch_size=batch_size, evaluate_every=3, device="cpu")
    plan = with_halves(replace(plan, steps_per_frame=2))
    with one_thread():
        whole = list(Race(opened(case), plan).frames())
        race, places, left = Race(opened(case), plan), [0, 1, 2, 3], {2: [0, 2, 3], 4: [2]}
        for frame, expected in zip(race.frames(), whole, strict=True):
            for k, place in enumerate(places):
                ours, theirs = (frame_of(one, slice(i, i + 1)) for one, i in ((frame, k), (expected, place)))
                assert all(same(getattr(ours, f.name), getattr(theirs, f.name)) for f in fields(Frame))
            if frame.last in left:
                race.keep([places.index(place) for place in left[frame.last]])
                places = left[frame.last]
        assert places == [2]


def test_a_lane_alone_is_shown_without_its_twin():
    for case in ("surfaces", "numbers"):
        for frame in alone(case, 0):
            assert frame.loss.shape == (len(frame.steps), 1)
            assert frame.status == frame.status[:1]
            assert all(h.counts.shape[1] == 1 for h in frame.histograms)
            assert all(len(v) == 1 for h in frame.histograms for v in (*h.by_group.values(), *h.spread.values()))
            assert all(len(values) == 1 for found in frame.metrics.values() for values in found.values())
    assert alone("surfaces", 0)[0].positions.shape == (1, 1, 2)


@pytest.mark.parametrize("lanes", [1, 2, 3, 5])
@pytest.mark.parametrize("bias", [True, False])
def test_pairs_of_lanes_are_convolved_as_each_by_itself(lanes, bias):
    torch.manual_seed(0)
    models = [nn.Conv2d(3, 4, 3, 2, 1, bias=bias).double() for _ in range(lanes)]
    stacked, x = Lanes(models, lanes), torch.randn(lanes, 5, 3, 7, 7, dtype=torch.float64)
    assert stacked.model.in_pairs
    out = stacked.model(x)
    stacked.backward(out.square().mean((-4, -3, -2, -1)))
    for k, model in enumerate(models):
        expected = model(x[k])
        torch.testing.assert_close(out[k], expected, rtol=0, atol=1e-14)
        expected.square().mean().backward()
        grads = stacked.row({name: p.grad for name, p in model.named_parameters()})
        torch.testing.assert_close(stacked.grad[k], grads, rtol=0, atol=1e-14)
