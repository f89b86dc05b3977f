"""The page of Appendix C in the real app and a real Chromium: the table fills in, and a row is a race."""

from playwright.sync_api import Page

from bench.driving.visiting import PATIENCE, flawless_page, press, wait
from dashboard.asked.four_steps import four_steps


def rows(page: Page) -> list[list[str]]:
    return page.evaluate(
        """() => [...document.querySelectorAll('.lab-four-steps tbody tr')]
            .map((row) => [...row.cells].map(({ innerText }) => innerText))"""
    )


def wait_for_end(page: Page) -> None:
    page.wait_for_function(
        """() => {
            const d = document.querySelector('.lab-four-steps')?.dataset ?? {}
            return d.ended === 'true' && d.state === 'finished' && d.found === 'true'
        }""",
        timeout=1000 * PATIENCE,
        polling=50,
    )


def test_the_table_fills_in_and_a_variant_opens_as_a_race(browser, address):
    config = four_steps("surfaces", 0.001, seeds=2)
    labels = [one.label for one in config.contenders]
    with flawless_page(browser) as page:
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{address}/four-steps?task=surfaces&lr-surfaces=0.001&seeds=2&seed=1")
        page.get_by_text("8 lanes × 2,000 steps").wait_for()
        page.wait_for_function("() => document.querySelectorAll('.lab-four-steps tbody tr').length === 4")
        assert [row[0] for row in rows(page)] == labels
        assert {row[1] for row in rows(page)} == {"…"}
        press(page, "Train")
        wait_for_end(page)
        filled = rows(page)
        assert all(row[5].startswith("2 of 2") and "…" not in row[3] for row in filled)
        assert [row[6] for row in filled] == ["91.08", "89.98", "90.29", "–"]
        # The first steps are drawn by the server, which is told when they are there.
        page.wait_for_function(
            "() => document.querySelector('.st-key-chart-four-steps-gradients .lab-chart')?.data?.length === 4"
        )
        page.locator(".lab-four-steps tbody tr").nth(1).get_by_role("button").click()
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        names = page.locator(".lab-card .lab-label").all_inner_texts()
        assert names == [f"{labels[1]}, lr 0.001, seed {seed}" for seed in (0, 1)]
        page.go_back()
        wait_for_end(page)
        assert rows(page) == filled
        assert "seed=1" in page.url
