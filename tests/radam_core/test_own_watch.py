"""Watching a loop: it changes no bit of it, keeps its spikes in bounded space, and outlives what happens to it."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from bench.own_models import OWN_MODELS
from radam_core import RAdam, race_model, read_run, watch
from radam_core.own import run_file, watching
from radam_core.own.thinning import BUCKETS, KEPT_ALL, Thinned
from radam_core.theory import rectification, rho

TIED = OWN_MODELS["tied MLP"]


def train(make_optimizer, file=None, steps=30, tell="after", most=1.0):
    torch.manual_seed(0)
    model = TIED.make()
    optimizer = make_optimizer(model.parameters())
    watched = watch(model, optimizer, file, most=most) if file else None
    losses = []
    for t in range(1, steps + 1):
        loss = TIED.loss(model, TIED.batch(t))
        optimizer.zero_grad()
        loss.backward()
        if watched and tell == "before":
            watched.loss(loss)
        optimizer.step()
        if watched and tell == "after":
            watched.loss(loss)
        losses.append(loss.item())
    if watched:
        watched.close()
    return losses, model


def radam(parameters):
    return torch.optim.RAdam(parameters, 1e-2)


OPTIMIZERS = {
    "RAdam": radam,
    "ours": lambda p: RAdam(p, 1e-2),
    "SGD": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "Adafactor": lambda p: torch.optim.Adafactor(p, 1e-2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_watched_loop_is_the_same_to_the_bit(name, tmp_path):
    losses, model = train(OPTIMIZERS[name])
    watched, theirs = train(OPTIMIZERS[name], tmp_path / "run.jsonl")
    assert losses == watched
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), theirs.parameters(), strict=True))


@pytest.mark.parametrize("tell", ["before", "after"])
def test_it_measures_what_a_race_measures(tell, tmp_path):
    losses, _ = train(radam, tmp_path / "run.jsonl", tell=tell)
    run = read_run(tmp_path / "run.jsonl")
    (lane,) = run.lanes
    assert (run.kind, run.ended, run.notes, lane.optimizer) == ("watch", "closed", [], "RAdam")
    assert lane.steps == list(range(1, 31))
    np.testing.assert_allclose(lane.column("loss"), losses, rtol=1e-6)
    t = np.array(lane.steps)
    np.testing.assert_allclose(lane.column("rho"), rho(t, 0.999), rtol=1e-6)
    np.testing.assert_allclose(lane.column("r"), rectification(t, 0.999, 5.0), rtol=1e-6)
    raced = race_model(TIED.make, TIED.loss, TIED.batch, {"RAdam": radam}, steps=30)
    for name in ("grad_norm", "update_rms", "relative_update", "angle", "lr", "multiplier", "branch"):
        np.testing.assert_allclose(lane.column(name), raced.column(name)[:, 0], rtol=2e-4, atol=1e-7, err_msg=name)
    assert [one.t for one in lane.histograms] == [one.t for one in raced.histograms]
    for ours, theirs in zip(lane.histograms, raced.histograms, strict=True):
        assert ours.groups == theirs.groups
        np.testing.assert_array_equal(ours.counts, theirs.counts)


def test_a_checkpoint_goes_on_with_its_own_count(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.RAdam(model.parameters(), 1e-3)
    for t in range(10):
        if t == 7:
            watched = watch(model, optimizer, tmp_path / "run.jsonl")
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    watched.close()
    lane = read_run(tmp_path / "run.jsonl").lanes[0]
    assert lane.steps == [8, 9, 10]
    np.testing.assert_allclose(lane.column("r"), rectification(np.array([8, 9, 10]), 0.999, 5.0), rtol=1e-6)
    assert "loss" not in lane.rows[0]  # nobody told it


def test_a_closure_has_its_gradients_measured(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)
    with watch(model, optimizer, tmp_path / "run.jsonl") as watched:

        def closure():
            optimizer.zero_grad()
            loss = (model(torch.ones(1, 2)) - 3).square().sum()
            loss.backward()
            return loss

        watched.loss(optimizer.step(closure))
        norm = math.hypot(*(p.grad.norm().item() for p in model.parameters()))
    row = read_run(tmp_path / "run.jsonl").lanes[0].rows[0]
    assert row["grad_norm"] == pytest.approx(norm, rel=1e-5)
    assert row["loss"] > 0


def test_an_exception_in_the_loop_passes_and_is_told(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())

    def loop():
        with watch(model, optimizer, tmp_path / "run.jsonl"):
            optimizer.step()
            raise KeyError("word")

    with pytest.raises(KeyError):
        loop()
    assert read_run(tmp_path / "run.jsonl").ended == "KeyError in the loop, after step 1"
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks


LEFT = """
import os, sys, torch
from radam_core import watch
from radam_core.own import watching
watching.FLUSH_SECONDS = 0.0
child = os.fork()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
watched = watch(model, optimizer, sys.argv[1] if child else sys.argv[2])
for t in range(50):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    watched.loss(t)
os.waitpid(child, 0) if child else os.kill(os.getpid(), 9)
"""


def test_its_file_is_readable_after_the_process_is_gone(tmp_path):
    """Two processes, one that ends as usual and one that is killed."""
    left, killed = tmp_path / "left.jsonl", tmp_path / "killed.jsonl"
    subprocess.run([sys.executable, "-c", LEFT, str(left), str(killed)], check=True)
    run = read_run(left)
    assert run.ended == "closed"
    assert run.lanes[0].column("loss").tolist() == list(range(50))
    run = read_run(killed)
    assert run.notes == ["killed.jsonl has no end: the run was cut off, or is still going on"]
    # The last step waits for its loss until the next one, or the end.
    assert run.lanes[0].column("loss").tolist() == list(range(49))


def test_a_million_steps_keep_every_spike_in_few_rows():
    kept, most_pending, steps = Thinned(), 0, 60_000
    spikes = {300: 50.0, 12_345: 7.0, 59_999: 99.0}
    rows = []
    for t in range(1, steps + 1):
        rows += kept.add(t, {"loss": spikes.get(t, 1.0 + (t % 97) * 1e-3), "grad_norm": 2.0})
        most_pending = max(most_pending, len(kept.pending()))
    rows += kept.finish()
    found = [t for t, _ in rows]
    assert found == sorted(set(found))
    assert found[:KEPT_ALL] == list(range(1, KEPT_ALL + 1))
    assert {t: values["loss"] for t, values in rows if values["loss"] > 5} == spikes
    # Each bucket takes 1/100 of the steps before it: there are 100 ln(steps / 200) of them, or a few more by rounding.
    assert len(rows) <= KEPT_ALL + most_pending * 1.3 * BUCKETS * math.log(steps / KEPT_ALL)
    assert most_pending <= 5


def test_a_loss_that_is_not_finite_stays():
    kept = Thinned()
    rows = [row for t in range(1, 500) for row in kept.add(t, {"loss": math.nan if t == 333 else 1.0})]
    assert 333 in [t for t, _ in rows]


def test_what_is_pending_is_in_the_file_and_does_not_make_it_grow(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "FLUSH_SECONDS", 0.0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    watched = watch(model, optimizer, tmp_path / "run.jsonl", most=1.0)
    for t in range(1, 601):
        watched.loss(1000.0 - t)
        optimizer.step()
        if t in (201, 399, 600):
            assert read_run(tmp_path / "run.jsonl").lanes[0].steps[-1] == t
    watched.close()
    lane = read_run(tmp_path / "run.jsonl").lanes[0]
    assert lane.steps[-1] == 600
    assert len(lane.steps) < 600
    assert lane.rows[-1]["loss"] == 400


def test_beyond_its_share_of_the_time_it_notes_the_loss_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "FREE_SECONDS", 0.0)
    losses, _ = train(radam, tmp_path / "run.jsonl", steps=230, most=1e-9)
    lane = read_run(tmp_path / "run.jsonl").lanes[0]
    assert np.isnan(lane.column("grad_norm")[1:]).all()  # the first, whose cost nobody knows, is measured
    assert np.isfinite(lane.column("rho")[:KEPT_ALL]).all()
    np.testing.assert_allclose(lane.column("loss")[:KEPT_ALL], losses[:KEPT_ALL], rtol=1e-6)
    assert np.isnan(lane.column("rho")[KEPT_ALL:]).all()
    assert lane.column("loss")[-1] == pytest.approx(losses[-1])


def test_an_error_of_its_own_ends_the_watching_and_not_the_training(tmp_path, monkeypatch):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watched = watch(model, optimizer, tmp_path / "run.jsonl")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(run_file.RunWriter, "write", full)
    with pytest.warns(UserWarning, match="watching ended, training goes on: OSError: no space left"):
        optimizer.step()
    optimizer.step()
    watched.loss(1.0)
    watched.close()


def test_a_disk_that_is_full_at_the_end_is_a_warning(tmp_path, monkeypatch):
    model = nn.Linear(2, 1)
    watched = watch(model, torch.optim.SGD(model.parameters(), 0.1), tmp_path / "run.jsonl")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(run_file.RunWriter, "write", full)
    with pytest.warns(UserWarning, match="the end of the run could not be written: no space left"):
        watched.close()


def test_refusals_come_all_at_once(tmp_path):
    (tmp_path / "run.jsonl").write_text("something")
    with pytest.raises(ValueError, match="4 things to change:") as caught:
        watch(3, None, tmp_path / "run.jsonl", most=0)
    assert "run.jsonl is there already: take another name" in str(caught.value)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with pytest.raises(ValueError, match="file must be in a folder that is there"):
        watch(model, optimizer, tmp_path / "nowhere" / "run.jsonl")
    with (
        watch(model, optimizer, tmp_path / "new.jsonl") as watched,
        pytest.raises(ValueError, match=r"got shape \[2\]"),
    ):
        watched.loss(torch.ones(2))
