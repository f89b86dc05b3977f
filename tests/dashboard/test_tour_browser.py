"""The guided tour in the real app and a real Chromium: all steps by mouse and by keyboard, and a class."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page

from dashboard.asked.tour import STEPS
from dashboard.words.tour_words import QUESTIONS
from tests.conftest import opened, wait_until_drawn

PREDICT, ON = "This is my prediction", "Next question"


def button(page: Page, name: str):
    """By the end of its name: an icon's stands before it."""
    return page.get_by_role("button", name=re.compile(rf"{name}$"))


def heading(page: Page, place: int) -> None:
    page.get_by_role("heading", name=f"{place}. {QUESTIONS[STEPS[place - 1].name]}").wait_for()
    wait_until_drawn(page)


def asked(page: Page, name: str) -> str:
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def answered(page: Page, place: int) -> None:
    button(page, "Predict again").wait_for()
    page.wait_for_function("(name) => new URLSearchParams(location.search).has(name)", arg=f"p{place}")
    wait_until_drawn(page)


def traces(page: Page, step: str) -> list[str]:
    return page.evaluate(
        "(key) => document.querySelector(`.st-key-chart-${key} .lab-chart`)._fullData.map(({ name }) => name)",
        f"tour-{step}",
    )


def can_predict(page: Page) -> None:
    """A curve is there only when the server has it."""
    page.locator("button:not([disabled])", has_text=PREDICT).wait_for()


def draw(page: Page) -> str:
    """By mouse, from the upper left to the lower right; the curve's code."""
    sheet = page.locator(".lab-draw-sheet")
    room = sheet.bounding_box()
    page.mouse.move(room["x"] + 2, room["y"] + 0.05 * room["height"])
    page.mouse.down()
    for share in (0.3, 0.6, 0.99):
        page.mouse.move(room["x"] + share * room["width"], room["y"] + 0.9 * share * room["height"], steps=4)
    page.mouse.up()
    code = sheet.get_attribute("data-code")
    assert list(code) == sorted(code, reverse=True), "it falls"
    assert code[0] > "v"
    assert code[-1] < "6"
    can_predict(page)
    return code


def test_from_first_to_last_step_by_mouse_with_a_drawn_curve_kept_through_a_reload(browser, address):
    with opened(browser, f"{address}/tour") as page:
        for place, step in enumerate(STEPS, 1):
            heading(page, place)
            code = ""
            if step.name == "curve":
                code = draw(page)
            elif step.name in ("lanes", "models"):
                page.get_by_role("button", name=step.form.options[1], exact=True).click()
            elif step.name == "cause":
                page.get_by_test_id("stRadioGroup").get_by_text(step.form.options[0]).click()
            button(page, PREDICT).click()
            answered(page, place)
            assert any(name.startswith("your prediction") for name in traces(page, step.name))
            if step.name == "curve":
                assert asked(page, "p2") == code
                page.reload()
                answered(page, place)
                assert "your prediction" in traces(page, "curve")
                assert "RAdam" in traces(page, "curve")
                assert asked(page, "p2") == code
            if place < len(STEPS):
                button(page, ON).click()
        assert len(page.url.split("?")[1]) < 110, "a link stays short"


def reach(page: Page, target: Locator) -> None:
    """By the Tab key, and inside a group by the arrow keys."""
    target.wait_for()
    for _ in range(60):
        if target.evaluate("(one) => one === document.activeElement"):
            return
        beside = "(one) => Boolean(one.closest('[role=radiogroup], [role=toolbar]')?.contains(document.activeElement))"
        page.keyboard.press("ArrowRight" if target.evaluate(beside) else "Tab")
    raise AssertionError(f"the keyboard does not come to {target}")


def press(page: Page, target: Locator, key: str = "Enter") -> None:
    reach(page, target)
    page.keyboard.press(key)


def draw_by_keys(page: Page) -> str:
    reach(page, page.get_by_role("slider", name="loss at step 1", exact=True))
    for key in ("ArrowUp", "ArrowRight", "PageDown", "ArrowDown", "ArrowRight", "Home"):
        page.keyboard.press(key)
    code = page.locator(".lab-draw-sheet").get_attribute("data-code")
    first = int(code[-1], 36)  # where the others still are
    assert [int(letter, 36) for letter in code[:3]] == [first + 1, first - 6, 0]
    return code


def test_from_first_to_last_step_by_keyboard_alone_with_a_drawn_curve_kept_through_a_reload(browser, address):
    with opened(browser, f"{address}/tour") as page:
        for place, step in enumerate(STEPS, 1):
            heading(page, place)
            code = ""
            if step.name == "curve":
                code = draw_by_keys(page)
            elif step.name in ("lanes", "models"):
                press(page, page.get_by_role("button", name=step.form.options[1], exact=True), "Space")
            elif step.name == "cause":
                press(page, page.get_by_role("radio", name=step.form.options[0]), "Space")
            can_predict(page)
            press(page, button(page, PREDICT))
            answered(page, place)
            assert any(name.startswith("your prediction") for name in traces(page, step.name))
            if step.name == "curve":
                page.reload()
                answered(page, place)
                assert asked(page, "p2") == code
                assert {"your prediction", "RAdam"} <= set(traces(page, "curve"))
            if place < len(STEPS):
                press(page, button(page, ON))
        assert [bool(asked(page, f"p{place}")) for place in range(1, len(STEPS) + 1)] == [True] * len(STEPS)


def test_two_browsers_in_one_class_see_each_others_predictions_and_nothing_else(browser, address):
    with opened(browser, f"{address}/tour") as teacher:
        button(teacher, "Class and link").click()
        button(teacher, "Start a class").click()
        teacher.get_by_text("0 predicted").wait_for()
        code = asked(teacher, "class")
        picture = teacher.locator(".lab-qr").first
        link = picture.get_attribute("alt").removeprefix("QR code of ")
        assert picture.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 80
        assert link == f"{address}/tour?class={code}"
        with opened(browser, link) as one, opened(browser, link) as other:
            for student, lane in ((one, "RAdam"), (other, "Adam-2k")):
                student.get_by_role("button", name=lane, exact=True).click()
                button(student, PREDICT).click()
                answered(student, 1)
            teacher.get_by_text("2 predicted").wait_for()
            shares = "[...document.querySelector('.st-key-chart-tour-lanes .lab-chart')._fullData.at(-1).y]"
            teacher.wait_for_function(f"() => {shares}.join() === '0,0,0.5,0.5'")
            button(one, "See what the class says now").click()
            one.wait_for_function(
                "() => document.querySelector('.st-key-chart-tour-lanes .lab-chart')._fullData"
                ".some(({ name, y }) => name.startsWith('your class') && [...y].join() === '0,0,0.5,0.5')"
            )
            assert asked(one, "p1") == "c"
            assert asked(other, "p1") == "d"


def test_a_chart_that_is_sent_again_while_it_waits_is_drawn(scripts):
    """As a teacher's is, every two seconds, on a machine that is slow."""
    drawn = scripts.evaluate(
        """async () => {
            let ready
            const before = window.radamLabPlotly
            window.radamLabPlotly = new Promise((resolve) => (ready = resolve))
            const parentElement = document.createElement('div')
            parentElement.innerHTML = '<div class="lab-chart" style="width:600px"></div>'
            document.body.append(parentElement)
            const figure = { data: [], layout: {}, told: { about: '', slug: '' } }
            const words = { plotlyUrl: '', name: 'x', title: '', alt: '' }
            const chart = { figure, templates: {}, ...words, height: 100, play: false }
            const data = () => new TextEncoder().encode(JSON.stringify(chart))
            const { default: render } = await load('chart.js')
            const first = render({ parentElement, data: data() })
            render({ parentElement, data: data() })
            first()
            ready({ react: async () => {}, purge: () => {}, Icons: {} })
            const box = parentElement.firstElementChild
            for (let k = 0; k < 50 && !box.dataset.drawn; k++) await new Promise((resolve) => setTimeout(resolve, 50))
            parentElement.remove()
            window.radamLabPlotly = before
            return box.dataset.drawn
        }"""
    )
    assert drawn == "1"
