"""The sweep page in the real app and a real Chromium: it fills in live, a cell is a race, a stop loses nothing."""

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

from playwright.sync_api import Browser, Page

from bench.driving.visiting import PATIENCE, button, flawless_page, press, wait
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import contender
from dashboard.evidence.findings import Findings
from dashboard.runs.feeds import Feeds
from dashboard.runs.store import Store
from dashboard.runs.sweep_feed import SweepFeed


def sweep(**changes) -> SweepConfig:
    """Twenty lanes; the last rate of SGD diverges."""
    return SweepConfig.make(
        {
            "task": "surfaces",
            "contenders": [contender("adam-linear", "Adam + warmup"), contender("sgd", lr_times=0.1)],
            "axes": {"lr": (0.01, 0.05), "warmup_steps": (0, 50, 100, 200)},
            "settings": {"surface": "quadratic"},
            "steps": 400,
            "steps_per_frame": 20,
            "record_every": 2,
            "seeds": (0, 1),
            **changes,
        }
    )


def wait_for_marks(page: Page, condition: str) -> None:
    """Until the sweep's marks (`d`) fulfil a condition."""
    page.wait_for_function(
        f"""() => {{
            const d = document.querySelector('.lab-sweep')?.dataset ?? {{}}
            return {condition}
        }}""",
        timeout=1000 * PATIENCE,
        polling=50,
    )


def mark(page: Page, name: str) -> str:
    return page.locator(".lab-sweep").get_attribute(f"data-{name}") or ""


@contextmanager
def opened(browser: Browser, url: str, **settings) -> Iterator[Page]:
    with flawless_page(browser, **settings) as page:
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(url)
        page.wait_for_selector(".lab-sweep[data-run]")
        yield page


def click_cell(page: Page, contender: str, row: int, column: int) -> None:
    """A real click into the middle of a cell of a map."""
    place = page.evaluate(
        """([name, row, column]) => {
            const plot = document.querySelector('[data-chart=maps]')
            const k = plot.data.filter((trace) => trace.type === 'heatmap').findIndex((trace) => trace.name === name)
            const axes = plot._fullLayout
            const [x, y] = [axes[k ? `xaxis${k + 1}` : 'xaxis'], axes[k ? `yaxis${k + 1}` : 'yaxis']]
            plot.scrollIntoView({ block: 'center' })
            const box = plot.getBoundingClientRect()
            return [box.x + x._offset + x.l2p(column), box.y + y._offset + y.l2p(row)]
        }""",
        [contender, row, column],
    )
    page.mouse.move(*place)
    # Plotly looks at most twenty times a second where the mouse is, and takes a click for the place it saw last.
    page.wait_for_function(
        """([name, row, column]) => {
            const seen = document.querySelector('[data-chart=maps]')._hoverdata?.[0]
            return seen?.data.name === name && String(seen.pointIndex) === String([row, column])
        }""",
        arg=[contender, row, column],
        polling=50,
    )
    page.mouse.click(*place)


def maps(page: Page) -> dict[str, list[list[float | None]]]:
    """The numbers written into the cells, by contender."""
    return page.evaluate(
        """() => Object.fromEntries(document.querySelector('[data-chart=maps]').data
            .filter((trace) => trace.type === 'heatmap')
            .map(({ name, text }) => [name, text.map((row) => row.map((words) => words.replace(/<[^>]*>/g, '')))]))"""
    )


def test_a_sweep_fills_in_live_and_a_cell_opens_its_race(browser, address, server_runs):
    config = sweep()
    with opened(browser, f"{address}/sweep?config={config.to_link()}") as page:
        assert "20 lanes × 400 steps" in page.inner_text(".stMain")
        page.evaluate("window.seen = new Set(); window.node = document.querySelector('[data-chart=maps]')")
        page.evaluate(
            """() => new MutationObserver(() => window.seen.add(document.querySelector('.lab-sweep').dataset.done))
                .observe(document.querySelector('.lab-sweep'), { attributes: true })"""
        )
        press(page, "Run")
        wait_for_marks(page, "d.ended === 'true' && d.state === 'finished' && d.found === 'true'")
        assert mark(page, "done") == "20"
        # One chart, drawn in place, that has shown something before the end.
        assert page.evaluate("window.node === document.querySelector('[data-chart=maps]') && window.node.isConnected")
        assert page.evaluate("window.seen.size") > 1

        with closing(Store(server_runs)) as store:
            feed = Feeds(store).open(mark(page, "run"))
            assert isinstance(feed, SweepFeed)
            found = Findings.of(config, feed.outcomes())
        drawn = maps(page)
        for line in found.lines_of(0):
            row = config.axes["warmup_steps"].index(line.at["warmup_steps"])
            means = [sum(rate.ends) / len(rate.ends) for rate in line.rates]
            assert [float(text) for text in drawn["Adam + warmup"][row]] == [float(f"{mean:.2g}") for mean in means]
        table = page.locator(".lab-table").first.inner_text()
        assert all(line.name in table for line in found.lines)
        sentences = page.locator(".lab-sentences li").all_inner_texts()
        assert [re.match(r"At lr ([0-9.]+):", text)[1] for text in sentences] == ["0.01", "0.05"]

        click_cell(page, "Adam + warmup", 2, 1)  # a warmup of 100 steps at lr 0.05, both seeds
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        names = page.locator(".lab-card .lab-label").all_inner_texts()
        assert names == [f"Adam + warmup, lr 0.05, warmup 100, seed {seed}" for seed in (0, 1)]
        page.go_back()
        wait_for_marks(page, "d.ended === 'true' && d.done === '20' && d.found === 'true'")
        assert maps(page) == drawn

        # Several cells become one race; and back again by the menu, where all is as it was.
        page.get_by_role("button", name="Select several cells").click()
        for row, lanes in ((0, 2), (3, 4)):
            click_cell(page, "Adam + warmup", row, 0)
            page.get_by_role("button", name=f"Open {lanes} lanes as a race").wait_for()
        page.get_by_role("button", name="Open 4 lanes as a race").click()
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        assert page.locator(".lab-card").count() == 4
        page.get_by_role("link", name="Sweep", exact=True).first.click()
        wait_for_marks(page, "d.done === '20' && d.found === 'true'")
        assert maps(page) == drawn

        # The slider goes back in time; the other quantities have their own numbers.
        slider = page.get_by_label("step of the maps")
        slider.focus()
        page.keyboard.press("Home")
        page.wait_for_function("() => document.querySelector('.lab-at').textContent === 'step 1'")
        assert maps(page) != drawn
        page.keyboard.press("End")
        page.get_by_role("button", name="Share that learned").click()
        page.wait_for_function(
            "() => document.querySelector('[data-chart=maps]').data[0].text.flat().every((text) => text.includes('%<'))"
        )
        page.get_by_role("button", name="Every seed").click()
        page.wait_for_function("() => document.querySelector('[data-chart=maps]').data[0].text.length === 8")


def test_a_stopped_sweep_goes_on_with_the_rest(browser, address):
    config = sweep(steps=1500, steps_per_frame=100, seeds=tuple(range(6)))
    with opened(browser, f"{address}/sweep?config={config.to_link()}") as page:
        press(page, "Run")
        wait_for_marks(page, "d.state === 'running' && Number(d.done) > 0")
        button(page, "Stop").last.click()
        wait_for_marks(page, "d.state === 'stopped' && d.ended === 'true'")
        done = int(mark(page, "done"))
        assert 0 < done < config.size
        page.wait_for_function("() => /lanes are new/.test(document.querySelector('.stMain').innerText)")
        page.reload()
        wait_for_marks(page, f"d.state === 'stopped' && Number(d.done) === {done}")
        press(page, "Run")
        wait_for_marks(page, "d.state === 'running'")
        assert int(mark(page, "done")) >= done
        wait_for_marks(page, "d.state === 'finished' && d.ended === 'true'")
        assert mark(page, "done") == str(config.size)


def test_a_grid_that_is_not_allowed_says_so_in_place_and_starts_nothing(browser, address):
    hostile = "?config=eJwBAAAA&preset=%3Cscript%3E&run=nonsense"
    with opened(browser, f"{address}/sweep{hostile}", width=390) as page:
        assert page.locator("[data-testid=stAlert]").count() == 2
        assert page.locator("[data-testid=stException]").count() == 0
        rates = page.get_by_role("textbox", name="Learning rates")
        run = button(page, "Run")
        for text, sentence in (
            ("nonsense", "lr must be numbers"),
            ("", "the grid is empty"),
            ("0.001 to 0.1 in 900", "at most 1,000 cells"),
            ("0.01, -1", "axes.lr must be greater than 0, got -1"),
        ):
            rates.fill(text)
            rates.press("Enter")
            page.get_by_text(sentence).wait_for()
            assert run.is_disabled()
        rates.fill("0.01, 0.1")
        rates.press("Enter")
        page.get_by_text("30 lanes × 500 steps").wait_for()
        assert run.is_enabled()
        assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


def test_what_the_page_sends_is_what_a_script_reads(browser, address):
    """The downloads are the cells: as CSV, in the units of the command line."""
    config = sweep(seeds=(3,), axes={"lr": (0.01, 0.05), "warmup_steps": (0, 50)})
    with opened(browser, f"{address}/sweep?config={config.to_link()}") as page:
        press(page, "Run")
        wait_for_marks(page, "d.ended === 'true' && d.state === 'finished'")
        press(page, "Download")
        with page.expect_download() as started:
            page.get_by_role("button", name="Configuration (JSON)").click()
        assert SweepConfig.make(started.value.path().read_text()) == config
        with page.expect_download() as started:
            page.get_by_role("button", name="Cells (CSV)").click()
        lines = started.value.path().read_text().splitlines()
        assert lines[0].split(",")[:3] == ["method", "label", "lr"]
        assert len(lines) == 1 + config.size
        press(page, "Share")
        page.locator("[data-testid=stCode]").nth(1).wait_for()
        shared = page.locator("[data-testid=stCode]").all_inner_texts()
        assert f"/sweep?run={mark(page, 'run')}" in shared[0]
        assert json.dumps(config.to_link())[1:-1] in shared[1]
