"""Every page opens and answers its controls, by Streamlit's own AppTest; nothing here needs a browser."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import results
from dashboard.navigation import PAGES
from radam_core.theory import rectification

ROOT = Path(__file__).resolve().parents[2]


def open_page(name: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "dashboard" / "main.py"), default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    if name != PAGES[0].name:
        app.switch_page(str(ROOT / "pages" / f"{name}.py"))
        app.run()
    return app


def charts(app: AppTest) -> dict[str, dict]:
    """The figures that the page hands to its chart component, by chart name."""
    found = {}
    for element in app.get("bidi_component"):
        data = json.loads(element.proto.json)
        found[data["filename"].removeprefix("radam-lab-")] = data["figure"]
    return found


def test_navigation_lists_every_file_in_pages():
    assert {page.name for page in PAGES} == {path.stem for path in (ROOT / "pages").glob("*.py")}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "race"], ids=lambda page: page.name)
def test_page_opens_without_an_exception_and_with_a_chart(page):
    app = open_page(page.name)
    assert not app.exception
    assert app.title
    assert charts(app)
    assert not app.warning


def test_moving_beta2_changes_the_curve_and_says_what_follows():
    app = open_page("rectification")
    before = charts(app)["rectification"]
    app.select_slider(key="beta2").set_value(0.99).run()
    after = charts(app)["rectification"]
    assert before["data"] != after["data"]
    assert any("199" in caption.value for caption in app.caption)


@pytest.mark.parametrize(("beta2", "threshold", "silent"), [(0.6, 4.0, False), (0.65, 4.0, True), (0.65, 5.0, False)])
def test_a_beta2_too_small_for_rectification_says_what_happens_and_why(beta2, threshold, silent):
    app = open_page("rectification")
    app.button_group(key="threshold").set_value(threshold).run()
    app.select_slider(key="beta2").set_value(beta2).run()
    assert not app.exception
    if silent:
        assert not app.warning
    else:
        assert "SGD with momentum for ever" in app.warning[0].value
        assert ("2/3" if threshold == 5 else "0.6") in app.warning[0].value


def test_moving_mu_draws_no_new_samples():
    app = open_page("variance")
    drawn = results.averages(0.999, 2000)
    before = charts(app)["variance"]
    app.select_slider(key="mu").set_value(1.0).run()
    assert not app.exception
    assert charts(app)["variance"]["data"] != before["data"]
    assert results.averages(0.999, 2000) is drawn


def test_measuring_real_gradients_without_workers_says_what_is_needed():
    app = open_page("variance")
    app.toggle(key="real").set_value(True).run()
    assert not app.exception
    assert "streamlit run app.py" in app.info[0].value


def test_the_papers_simulation_is_one_click_away():
    app = open_page("variance")
    assert "paper-simulation" not in charts(app)
    app.toggle(key="paper").set_value(True).run()
    assert len(charts(app)["paper-simulation"]["data"]) == 12


def test_step_table_and_snippets_follow_the_settings():
    app = open_page("rectification")
    table = app.dataframe[-1].value
    np.testing.assert_allclose(table["r_t"][4:], rectification(np.arange(5, 1001), 0.999))
    assert list(table["branch"][:5]) == ["momentum"] * 4 + ["adaptive"]
    app = open_page("implementations")
    assert 'profile="paper"' in app.code[0].value
    assert len(app.code) == 1
    app.button_group(key="profile").set_value("torch").run()
    assert "torch.optim.RAdam" in app.code[1].value
