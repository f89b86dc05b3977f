"""Own models in the real app and a real Chromium: a watched loop with its histograms and r_t, and a sweep as a map."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from bench.driving.visiting import wait
from dashboard.own_runs import open_file, put_maps
from dashboard.runs.store import Store
from radam_core import watch
from radam_core.theory import rectification
from tests.conftest import ROOT, opened
from tests.dashboard.test_own_maps import map_file

STEPS = 60


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    path = tmp_path_factory.mktemp("watched") / "mine.jsonl"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2, betas=(0.9, 0.99))
    with watch(model, optimizer, path, most=1.0) as run:
        for _ in range(STEPS):
            x = torch.randn(32, 8)
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.loss(loss)
    return path


def test_a_watched_run_is_opened_with_its_loss_its_histograms_and_r_t(browser, address, server_runs, watched):
    command = [sys.executable, "-m", "dashboard", "open", str(watched), "--no-browser", "--app", address]
    environment = {"RADAM_LAB_RUNS": str(server_runs), "PATH": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True, env=environment)
    with opened(browser, done.stdout.strip()) as page:
        wait(page, f"d.state === 'finished' && Number(d.step) === {STEPS} && Number(loss.points) === {STEPS}")
        train = page.get_by_role("button", name="Train")
        assert train.is_disabled()
        assert train.evaluate("(one) => getComputedStyle(one).color") != "rgb(255, 255, 255)", "white on white"
        assert page.locator(".lab-card").count() == 1
        assert "finished" in page.locator(".lab-card").inner_text()
        rho = page.locator("[data-chart=rho]")
        rho.scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelector('[data-chart=rho]').dataset.drawn")
        curves = page.evaluate(
            "document.querySelector('[data-chart=rho]').data.filter((t) => t.meta.column && !t.meta.again)"
            ".map((t) => [t.meta.column, t.x.at(-1), t.y.at(-1)])"
        )
        assert [(name, step) for name, step, _ in curves] == [("rho", STEPS), ("r", STEPS)]
        assert curves[1][2] == pytest.approx(float(rectification(STEPS, 0.99)), rel=1e-5)  # the one formula
        page.locator("[data-chart=ridges]").scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelector('[data-chart=ridges]').dataset.drawn")
        filled = page.evaluate("document.querySelector('[data-chart=ridges]').data.map((t) => t.x.length)")
        assert min(filled) > 10
        assert page.locator("[data-chart=layers], [data-chart=variance], [data-chart=metric]").count() == 0
        page.reload()
        wait(page, f"d.state === 'finished' && Number(d.step) === {STEPS}")


def test_an_own_map_is_drawn_with_its_sentences_and_a_cell_opens_as_lanes(browser, address, server_runs, tmp_path):
    store = Store(server_runs)
    (run,) = put_maps(store, [open_file(map_file(tmp_path / "map.jsonl"))])
    store.close()
    with opened(browser, f"{address}/sweep?run={run}") as page:
        page.wait_for_function("() => document.querySelectorAll('.lab-sentences li').length === 2")
        assert "At lr 0.1: Adam needs 20 steps" in page.locator(".lab-sentences").inner_text()
        page.wait_for_function("() => document.querySelector('[data-chart=rates]').dataset.drawn")
        assert not page.locator("[data-chart=signs]").is_visible()
        rows = page.evaluate("document.querySelector('[data-chart=maps]').layout.yaxis.ticktext")
        assert rows == ["warmup 0", "warmup 20"]
        page.evaluate(
            "() => { const map = document.querySelector('[data-chart=maps]');"
            " map.emit('plotly_click', { points: [{ data: map.data[0], pointIndex: [1, 1] }] }) }"
        )
        page.wait_for_url("**/race?run=*")
        page.wait_for_function("() => document.querySelectorAll('.lab-card').length === 2")
        assert "Adam, lr 0.1, 20, seed 1" in page.locator(".lab-card").nth(1).inner_text()
