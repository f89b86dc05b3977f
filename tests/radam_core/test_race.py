"""The race's promises: determinism, measuring that changes nothing, lanes that do not touch, frames that add up."""

import gc
import math
import threading
import tracemalloc
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
import torch

from demo_models import TASKS
from radam_core import METHODS
from radam_core.race.control import Switch
from radam_core.race.frames import (
    BINS,
    DIVERGED,
    FINISHED,
    RUNNING,
    STOPPED,
    Frame,
    schedule_columns,
)
from radam_core.race.plan import Lane, RacePlan, histogram_steps
from radam_core.race.quantities import QUANTITIES
from radam_core.race.race import Race, choose_device, race
from radam_core.race.threads import one_thread
from radam_core.theory import rectification, rho

NUMBERS = TASKS["numbers"].open({"depth": 1, "width": 16, "heads": 2})
LANES = tuple(
    Lane(label=name, method=METHODS[name], lr=1e-2) for name in ("adam", "radam", "sgd", "adam-2k", "gi-adam")
)


def plan(steps=12, **changes):
    settings = {"lanes": LANES, "batch_size": 4, "evaluate_every": 5, "steps_per_frame": 5, "device": "cpu"}
    return RacePlan(steps=steps, **settings | changes)


def run(problem=NUMBERS, control=None, **changes):
    with one_thread():
        return list(race(problem, plan(**changes), control))


@cache
def frames_of_a_race():
    """Those of `run()`, for tests that only look at them or compare others with them."""
    return run()


def column(frames, name):
    return np.concatenate([frame.columns[name] if name in QUANTITIES else getattr(frame, name) for frame in frames])


def same(a, b):
    """Two values of a frame, to the bit."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "counts"):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b


def assert_same_frames(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        for f in fields(Frame):
            assert same(getattr(a, f.name), getattr(b, f.name)), (a.number, f.name)


def test_frames_cover_every_step_once():
    frames = frames_of_a_race()
    assert [(frame.number, frame.first, frame.last) for frame in frames] == [
        (0, 1, 1),
        (1, 2, 5),
        (2, 6, 10),
        (3, 11, 12),
    ]
    assert column(frames, "steps").tolist() == list(range(1, 13))
    assert [t for frame in frames for t in frame.metrics] == [5, 10, 12]
    assert [h.t for frame in frames for h in frame.histograms] == [1, 5, 10]
    assert frames[0].status == (RUNNING,) * 5
    assert frames[-1].status == (FINISHED,) * 5
    assert frames[-1].finished


def test_the_same_race_gives_the_same_frames():
    assert_same_frames(run(), frames_of_a_race())
    assert not np.array_equal(column(frames_of_a_race(), "loss"), column(run(seed=1), "loss"))


def test_measuring_changes_nothing():
    measured, unmeasured = frames_of_a_race(), run(measure=False)
    assert same(column(measured, "loss"), column(unmeasured, "loss"))
    assert same(column(measured, "grad_norm"), column(unmeasured, "grad_norm"))
    assert same(measured[-1].metrics, unmeasured[-1].metrics)
    assert np.isfinite(column(measured, "update_rms")).all()
    assert np.isnan(column(unmeasured, "update_rms")).all()
    assert not unmeasured[0].histograms


@pytest.mark.parametrize("name", ["numbers", "digits", "text", "surfaces"])
def test_a_diverging_lane_is_stopped_and_the_others_do_not_notice(name):
    settings = {"numbers": {"depth": 1, "width": 16}, "digits": {"width": 4}, "text": {"width": 8, "vocabulary": 200}}
    problem = TASKS[name].open(settings.get(name, {}))
    lanes = [
        Lane(label=method, method=METHODS[method], lr=TASKS[name].lr / 10) for method in ("adam", "sgd", "adam-eps")
    ]
    for k, method in enumerate(("sgd", "adam", "adam")):
        wild = [*lanes]
        wild[k] = replace(wild[k], method=METHODS[method], lr=1e3)
        sane = [*lanes]
        sane[k] = replace(wild[k], lr=lanes[k].lr)
        diverged, calm = (run(problem, lanes=tuple(each), evaluate_every=12) for each in (wild, sane))
        at = diverged[-1].diverged_at[k]
        assert at is not None, method
        assert diverged[-1].status[k] == DIVERGED
        others = [i for i in range(3) if i != k]
        for quantity in QUANTITIES:
            values = column(diverged, quantity)
            assert same(values[:, others], column(calm, quantity)[:, others])
            assert np.isnan(values[at:, k]).all()
        for metric, values in diverged[-1].metrics[12].items():
            assert same(values[others], calm[-1].metrics[12][metric][others])
            assert np.isnan(values[k])


def test_a_race_ends_when_every_lane_is_lost():
    frames = run(TASKS["surfaces"].open(), lanes=(Lane(label="a", method=METHODS["sgd"], lr=1e3),))
    assert frames[-1].last < 12
    assert frames[-1].status == (DIVERGED,)


class StopAt:
    def __init__(self, step):
        self.step, self.asked = step, []

    def proceed(self, step):
        self.asked.append(step)
        return step < self.step


def test_stop_between_steps_keeps_what_was_recorded():
    control = StopAt(8)
    frames = run(control=control)
    assert control.asked == list(range(1, 9))
    assert (frames[-1].last, frames[-1].status) == (7, (STOPPED,) * 5)
    assert same(column(frames, "loss"), column(frames_of_a_race(), "loss")[:7])
    (only,) = run(control=StopAt(1))
    assert (only.last, only.loss.shape) == (0, (0, 5))


def test_pause_waits_and_resume_goes_on():
    switch, seen = Switch(), []
    switch.pause()
    thread = threading.Thread(target=lambda: seen.extend(run(control=switch)))
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    assert not seen
    switch.resume()
    thread.join(60)
    assert_same_frames(seen, frames_of_a_race())


def test_a_paused_race_can_be_stopped():
    switch = Switch()
    switch.pause()
    switch.stop()
    (only,) = run(control=switch)
    assert only.status == (STOPPED,) * 5


def test_replicates_have_their_own_weights_and_batches():
    lanes = (LANES[0], replace(LANES[0], label="replicate", seed=4), LANES[1])
    losses = column(run(lanes=lanes, evaluate_every=12), "loss")
    assert losses[0, 0] != losses[0, 1]
    assert losses[0, 0] == losses[0, 2]
    alone = column(run(lanes=(LANES[0],), seed=4, evaluate_every=12), "loss")
    np.testing.assert_allclose(losses[:, 1], alone[:, 0], rtol=1e-4)


def test_schedule_columns_are_the_methods_own():
    lanes = (
        Lane(label="a", method=replace(METHODS["adam-linear"], warmup_steps=10), lr=0.5),
        Lane(label="b", method=METHODS["radam"], lr=0.1),
    )
    columns = schedule_columns(lanes, [1, 5, 20])
    np.testing.assert_allclose(columns["lr"], [[0.05, 0.1], [0.25, 0.1], [0.5, 0.1]])
    np.testing.assert_allclose(columns["rho"][:, 1], rho([1, 5, 20], 0.999))
    np.testing.assert_allclose(columns["multiplier"][:, 1], [1, *rectification([5, 20], 0.999)])
    assert math.isnan(columns["r"][0, 1])
    assert columns["branch"][:, 1].tolist() == [1, 2, 2]


def test_recorded_sizes_are_those_of_a_plain_loop():
    lane = Lane(label="a", method=METHODS["adam"], lr=1e-2)
    frames = run(lanes=(lane,), steps=5)
    model = NUMBERS.make_model(0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for t in range(1, 6):
        NUMBERS.loss(model, NUMBERS.batch(0, t, 4)).backward()
        before = torch.cat([p.detach().flatten() for p in model.parameters()])
        norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
        optimizer.step()
        optimizer.zero_grad()
        update = torch.cat([p.detach().flatten() for p in model.parameters()]) - before
        expected = norm, update.square().mean().sqrt(), update.norm() / before.norm()
        ours = [column(frames, name)[t - 1, 0] for name in ("grad_norm", "update_rms", "relative_update")]
        np.testing.assert_allclose(ours, [x.item() for x in expected], rtol=1e-3)


@pytest.mark.parametrize("decoupled", [True, False])
def test_groups_of_layers_have_the_sizes_of_a_plain_loop(decoupled):
    """At the histogram steps, recorded or not; of weight decay the update has the coupled kind alone."""
    decay = 0.5
    method = replace(METHODS["adam"], decoupled_weight_decay=decoupled)
    lane = Lane(label="a", method=method, lr=1e-2, weight_decay=decay, clip=0.1)
    frames = run(lanes=(lane,), steps=40, record_every=7, evaluate_every=40)
    found = {histograms.t: histograms for frame in frames for histograms in frame.histograms}
    assert list(found) == [1, 5, 10, 25]
    recorded = {int(t): row for frame in frames for t, row in zip(frame.steps, frame.columns["angle"], strict=True)}
    make = torch.optim.AdamW if decoupled else torch.optim.Adam
    model = NUMBERS.make_model(0)
    optimizer = make(model.parameters(), 1e-2, weight_decay=decay)

    def by_group(of):
        parts = {}
        for name, p in model.named_parameters():
            parts.setdefault(NUMBERS.group(name), []).append(of(p).detach().flatten().double().numpy().copy())
        return {name: np.concatenate(values) for name, values in parts.items()}

    for t in range(1, 11):
        optimizer.zero_grad()
        NUMBERS.loss(model, NUMBERS.batch(0, t, 4)).backward()
        gradient, before = by_group(lambda p: p.grad), by_group(lambda p: p)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        after = by_group(lambda p: p)
        if t in found:
            assert found[t].groups == tuple(before)
        for i, name in enumerate(before if t in found else ()):
            old, new = before[name], after[name]
            update = new - (1 - 1e-2 * decay * decoupled) * old
            cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
            expected = {
                "grad_norm": np.linalg.norm(gradient[name]),
                "update_rms": np.sqrt((update**2).mean()),
                "relative_update": np.linalg.norm(update) / np.linalg.norm(old),
                "angle": np.degrees(np.arccos(cosine)),
            }
            assert set(expected) == set(found[t].by_group)
            for quantity, value in expected.items():
                np.testing.assert_allclose(found[t].by_group[quantity][0, i], value, rtol=5e-3, err_msg=quantity)
        if t in recorded:
            old, new = (np.concatenate(list(parts.values())) for parts in (before, after))
            cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
            np.testing.assert_allclose(recorded[t][0], np.degrees(np.arccos(cosine)), rtol=2e-3)


def test_surfaces_record_positions():
    frames = run(TASKS["surfaces"].open({"noise": 0.0}), lanes=LANES[:1], record_every=4)
    positions = column(frames, "positions")
    assert positions.shape == (len(column(frames, "steps")), 1, 2)
    assert positions[0, 0].tolist() != [-1.5, 2.0]


def test_histogram_steps_are_early_and_then_even():
    assert list(histogram_steps(60)) == [1, 5, 10, 25, 50]
    assert list(histogram_steps(500)) == [1, 5, 10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500]
    assert list(histogram_steps(100_000))[-2:] == [87525, 100_000]


def test_memory_stays_flat():
    problem = TASKS["surfaces"].open()
    settings = {"lanes": LANES, "batch_size": 1, "evaluate_every": 250, "steps_per_frame": 100, "record_every": 20}
    frames = race(problem, RacePlan(steps=1500, device="cpu", **settings))
    tracemalloc.start()
    with one_thread():
        sizes = {}
        for frame in frames:
            if frame.last in (600, 1200):
                gc.collect()
                sizes[frame.last] = (len(frame.histograms), tracemalloc.get_traced_memory()[0])
            if frame.last == 1200:
                break
    tracemalloc.stop()
    (early, before), (late, after) = sizes[600], sizes[1200]
    assert early == late  # frames of one kind: a histogram takes some kilobytes as long as its frame is held
    assert after - before < 30_000  # bytes, over 600 steps


def test_histograms_hold_every_coordinate():
    frames = run(steps=1)
    (histograms,) = frames[0].histograms
    counts = histograms.counts
    assert counts.shape == (3, 5, len(histograms.groups), BINS)
    assert set(histograms.groups) == {"embeddings", "encoder", "decoder", "output"}
    size = sum(p.numel() for p in NUMBERS.make_model(0).parameters())
    assert (counts.sum((2, 3)) == size).all()
    np.testing.assert_allclose(
        np.linalg.norm(histograms.by_group["grad_norm"], axis=1), frames[0].columns["grad_norm"][0], rtol=1e-5
    )


def test_device_is_there_or_refused_by_name():
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    assert choose_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match=r"device must be one of auto, .*got 'tpu'"):
        choose_device("tpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_runs_the_same_race():
    ours, theirs = run(device="cuda"), run(device="cpu")
    np.testing.assert_allclose(column(ours, "loss"), column(theirs, "loss"), rtol=1e-2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lanes": ()}, "lanes must hold at least one lane"),
        ({"steps": 0}, "steps must be a whole number, at least 1, got 0"),
        ({"record_every": 0}, "record_every must be a whole number, at least 1, got 0"),
    ],
)
def test_entries_are_checked(changes, message):
    with pytest.raises(ValueError, match=message):
        plan(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lr": -1.0}, "lr must be finite and at least 0, got -1.0"),
        ({"clip": 0.0}, "clip must be finite and above 0, or None, got 0.0"),
        ({"seed": -1}, "seed must be a whole number, at least 0, got -1"),
    ],
)
def test_lanes_are_checked(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(LANES[0], **changes)


def test_a_lane_in_float64():
    state = Race(NUMBERS, plan(double=True))
    assert state.lanes.buffer.dtype == torch.float64
    state.step(1)


def test_nothing_is_told_of_a_lane_after_it_was_lost():
    lanes = tuple(Lane(label=f"{lr:g}", method=METHODS["sgd"], lr=lr) for lr in (1e-4, 1e4))
    frames = list(race(TASKS["surfaces"].open(), RacePlan(lanes=lanes, steps=60, batch_size=1, device="cpu")))
    lost = frames[-1].diverged_at[1]
    assert lost is not None
    assert frames[-1].diverged_at[0] is None
    for frame in frames:
        after = frame.steps >= lost  # at the step itself its weights were taken out of the race already
        assert np.isnan(frame.positions[after, 1]).all()
        assert np.isfinite(frame.positions[:, 0]).all()
        for histograms in (one for one in frame.histograms if one.t >= lost):
            assert not histograms.counts[:, 1].any()
            assert all(np.isnan(values[1]).all() for values in histograms.by_group.values())
            assert all(np.isnan(values[1]) for values in histograms.spread.values())
            assert histograms.counts[:, 0].any()


def test_the_first_steps_can_be_looked_at_one_by_one_and_by_layer():
    """Each layer's norm is that of its own parameters' gradients, and all of them together the lane's."""
    task = TASKS["numbers"]
    problem = task.open({"depth": 2, "width": 16, "norm": "pre"})
    plan = RacePlan(lanes=LANES[:2], steps=12, batch_size=4, dense_steps=3, device="cpu", double=True)
    frames = list(race(problem, plan))
    found = {h.t: h for frame in frames for h in frame.histograms}
    assert sorted(found) == [1, 2, 3, 5, 10]
    expected = ("source words", "target words", "encoder 1", "encoder 2", "encoder norm")
    assert found[1].layers[: len(expected)] == expected
    assert found[5].layers == found[5].groups

    model = problem.make_model(0).double()
    problem.loss(model, problem.batch(0, 1, 4)).backward()
    for i, name in enumerate(found[1].layers):
        own = [p.grad.norm() for parameter, p in model.named_parameters() if problem.layer(parameter) == name]
        np.testing.assert_allclose(found[1].by_layer[0, i], torch.stack(own).norm(), rtol=1e-6, err_msg=name)
    steps, norms = frames[0].steps, frames[0].columns["grad_norm"]
    np.testing.assert_allclose(np.linalg.norm(found[1].by_layer, axis=1), norms[steps == 1][0], rtol=1e-5)


def test_layers_whose_parameters_lie_apart_are_refused():
    problem = TASKS["numbers"].open({"depth": 1, "width": 16})
    problem.layer = lambda name: "even" if len(name) % 2 else "odd"
    with pytest.raises(ValueError, match="the parameters of a layer must follow one another"):
        Race(problem, RacePlan(lanes=LANES[:2], steps=2, device="cpu"))
