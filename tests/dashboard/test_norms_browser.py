"""Post-LN beside Pre-LN in the real app and a real Chromium: one journey, from *Train* to both columns filled."""

from bench.driving.visiting import button, mark, press, visitor, wait

POINTS = """(name) => Object.fromEntries([0, 1].map((run) => [run, document.querySelector(`[data-chart=${name}]`).data
    .filter(({ meta }) => meta?.run === run && !meta.again && meta.of !== 'limit')
    .map(({ x }) => x.length)]))"""


def test_train_fills_both_columns_and_the_buttons_are_for_both(browser, address):
    with visitor(browser, f"{address}/norms?depth=1&steps=50") as page:
        assert mark(page, "run") == ""
        press(page, "Train")
        wait(page, "d.state === 'running' && Number(d.frames) > 0")
        press(page, "Pause")
        wait(page, "d.state === 'paused'")
        press(page, "Resume")
        wait(page, "d.ended === 'true' && d.state === 'finished' && d.step === '50'")
        assert len(mark(page, "run").split()) == 2
        assert not button(page, "Stop").is_visible()
        # The sharpness at step 1, and by turns at every fifth.
        expected = {"loss": {50}, "by-layer": {5, 7}, "moves": {50}, "preconditioned": {6}, "plain": {6}}
        for name, lengths in expected.items():
            page.locator(f"[data-chart={name}]").scroll_into_view_if_needed()
            page.wait_for_function(f"(name) => Object.values(({POINTS})(name)).flat().every(Boolean)", arg=name)
            found = page.evaluate(POINTS, name)
            assert {length for run in found.values() for length in run} == lengths, name
        layers = page.locator("[data-chart=moves]").locator("xpath=..").get_by_role("combobox", name="layers")
        layers.select_option("decoder")
        page.locator("[data-chart=moves]").scroll_into_view_if_needed()
        page.wait_for_function(f"() => Object.values(({POINTS})('moves')).flat().every((points) => points < 50)")
        page.get_by_text("All 6 lanes were trained before").wait_for()
