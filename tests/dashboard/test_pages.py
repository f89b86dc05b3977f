"""Every page opens and answers its controls, by Streamlit's own AppTest; nothing here needs a browser."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.figures import results
from dashboard.navigation import PAGES
from radam_core.theory import rectification
from tests.dashboard.opening import HOSTILE, LINK_KEYS, components, go_to, hostile_query, open_page

ROOT = Path(__file__).resolve().parents[2]


def charts(app: AppTest) -> dict[str, dict]:
    """The figures that the page hands to its chart component, by chart name."""
    found = {}
    for element in components(app, "radam_lab_chart"):
        data = json.loads(element.proto.bytes)
        found[data["name"]] = data["figure"]
    return found


def test_navigation_lists_every_file_in_pages():
    assert {page.file for page in PAGES} == {str(path) for path in (ROOT / "pages").glob("*.py")}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in ("race", "sweep", "norms")], ids=lambda page: page.name
)
def test_page_opens_without_an_exception_and_with_a_chart(page):
    app = open_page(page.name)
    assert not app.exception
    assert app.title
    assert charts(app)
    assert not app.warning


def test_moving_beta2_changes_the_curve_and_says_what_follows():
    app = open_page("rectification")
    before = charts(app)["rectification"]
    app.select_slider(key="rectification-beta2").set_value(0.99).run()
    after = charts(app)["rectification"]
    assert before["data"] != after["data"]
    assert any("199" in caption.value for caption in app.caption)


@pytest.mark.parametrize(("beta2", "threshold", "silent"), [(0.6, 4.0, False), (0.65, 4.0, True), (0.65, 5.0, False)])
def test_a_beta2_too_small_for_rectification_says_what_happens_and_why(beta2, threshold, silent):
    app = open_page("rectification")
    app.button_group(key="rectification-threshold").set_value(threshold).run()
    app.select_slider(key="rectification-beta2").set_value(beta2).run()
    assert not app.exception
    if silent:
        assert not app.warning
    else:
        assert "SGD with momentum for ever" in app.warning[0].value
        # rho_inf = 2/(1 - beta2) - 1 is 4 at beta2 = 3/5, and 5 at 2/3
        assert (
            f"Choose β₂ above 1 − 2/({threshold:g} + 1) = {0.6 if threshold == 4 else 0.6667}" in app.warning[0].value
        )


def test_implementations_that_never_rectify_say_so_and_the_caption_does_not_contradict():
    app = open_page("implementations")
    app.select_slider(key="implementations-beta2").set_value(0.65).run()
    assert "The authors' code** waits for $\\rho_t$ to reach 5 and never takes a step." in app.warning[0].value
    assert app.warning[0].value.count("momentum steps for ever") == 3
    facts = app.caption[0].value
    assert "threshold 4: $r_t$ starts at step 8" in facts
    assert "threshold 5: **$r_t$ never starts**" in facts
    app.multiselect(key="implementations-which").set_value(["paper"]).run()
    assert not app.warning
    assert "threshold 5" not in app.caption[0].value
    app.multiselect(key="implementations-which").set_value([]).run()
    assert not app.exception
    assert "implementations" not in charts(app)


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        ({}, ["within a tenth of its final 0.16", "is below a tenth from **step 53** on"], "never"),
        ({"beta1": 0.99, "beta2": 0.9}, ["**never falls to a tenth**"], "below a tenth"),
        ({"mu": 10.0}, ["hardly changes"], "falls from"),
        ({"beta2": 0.5}, ["RAdam never rectifies", "without a limit later"], "in the limit"),
        ({"beta2": 0.9999}, ["still falling at step 12,000"], "of its limit"),
    ],
    ids=str,
)
def test_the_size_page_says_what_its_curves_show(settings, said, unsaid):
    app = open_page("size")
    for key, value in settings.items():
        app.select_slider(key=f"size-{key}").set_value(value)
    app.run()
    assert not app.exception
    prose = " ".join(element.value for element in app.markdown)
    for part in said:
        assert part in prose
    assert unsaid not in prose
    assert "0.1, 0.19, 0.27, ..., above 0.9" in prose  # Adam-2k is no clean evidence
    assert "no evidence of which does the harm" in prose
    assert "settles first" not in prose.replace("Which of them settles first is no evidence", "")


def test_every_curve_of_the_rectification_page_is_explained():
    app = open_page("rectification")
    lines = app.expander[0].markdown[0].value
    assert all(trace["name"].replace("<sub>t</sub>", "ₜ") in lines for trace in charts(app)["rectification"]["data"])
    assert "\\min(1,\\ t / T_w)" in lines
    assert "1 - e^{-t / \\tau}" in lines
    named = [trace["name"] for trace in charts(app)["learning-rate"]["data"]]
    assert "no warmup" in named
    assert "showlegend" not in charts(app)["learning-rate"]["layout"]


def test_home_labels_are_the_menus_and_the_questions_stand_below():
    app = open_page("home")
    assert [link.proto.label for link in app.get("page_link")] == [f"**{page.title}**" for page in PAGES[1:]]
    asked = [caption.value.split("** ")[0] for caption in app.caption if caption.value.startswith("**")]
    assert asked == [f"**{page.question}" for page in PAGES[1:]]


@pytest.mark.parametrize(
    ("name", "key", "values", "allowed"),
    [
        ("rectification", "beta2", ["0.9", "0.98"], "one of 27 values from 0.5 to 0.9999"),
        ("rectification", "beta2", ["0.9", "0.9"], "one of 27 values from 0.5 to 0.9999"),
        ("rectification", "axis", ["linear", "log"], "one of log, linear"),
        ("rectification", "decay", ["step", "linear"], "one of constant, step, linear, cosine, inverse-sqrt"),
        (
            "rectification",
            "compare",
            ["0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.93"],
            "at most 6, each once, of 27",
        ),
        ("rectification", "compare", ["0.9", "0.9"], "at most 6, each once, of 27"),
        ("rectification", "compare", ["0.9", "2"], "at most 6, each once, of 27"),
        ("variance", "paper", "<script>", "one of true, false"),
        ("variance", "real", "nan", "one of true, false"),
        ("variance", "network", "imagenet", "one of digits, numbers, text"),
        ("size", "beta1", "1", "one of 0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99"),
        ("implementations", "which", ["The paper", "lasagne"], "at most 6, each once, of The paper"),
    ],
    ids=str,
)
def test_every_refused_link_value_gets_a_sentence_with_field_and_choice(name, key, values, allowed):
    app = open_page(name, **{key: values})
    assert not app.exception
    assert len(app.warning) == 1
    assert f"The link asked for `{key} = " in app.warning[0].value
    assert f"Allowed: {allowed}" in app.warning[0].value


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("rectification", {"beta2": "0.98", "compare": ["0.9", "0.99"], "axis": "linear", "decay": "cosine"}),
        ("rectification", {"compare": ""}),  # nothing chosen, as the app itself writes it
        ("variance", {"paper": "true", "real": "False", "network": "text"}),
        ("implementations", {"which": ["The paper", "optax.radam"], "profile": "torch"}),
    ],
    ids=str,
)
def test_allowed_link_values_get_no_sentence(name, query):
    app = open_page(name, **query)
    assert not app.exception
    assert not app.warning


def test_other_pages_start_from_their_own_settings_but_for_what_their_formulas_have_in_common():
    """A step of one page's opened another's lesson there; a rate of the theory took the recording off a page."""

    def address_of(page):
        app.query_params.clear()  # as by the menu
        return dict(go_to(app, page).query_params)

    app = open_page("four-steps", step="5", seed="2")
    assert address_of("tour") == {}
    assert address_of("norms") == {}
    app = open_page("rectification", lr="0.02", warmup="200", beta2="0.98")
    assert address_of("norms") == {}
    assert address_of("implementations") == address_of("size") == {"beta2": "0.98"}


def test_moving_mu_draws_no_new_samples():
    app = open_page("variance")
    drawn = results.averages(0.999, 2000)
    before = charts(app)["variance"]
    app.select_slider(key="variance-mu").set_value(1.0).run()
    assert not app.exception
    assert charts(app)["variance"]["data"] != before["data"]
    assert results.averages(0.999, 2000) is drawn


def test_measuring_real_gradients_without_workers_says_what_is_needed():
    app = open_page("variance")
    app.toggle(key="variance-real").set_value(True).run()
    assert not app.exception
    assert "streamlit run app.py" in app.info[0].value


def test_the_papers_simulation_is_one_click_away():
    app = open_page("variance")
    assert "paper-simulation" not in charts(app)
    app.toggle(key="variance-paper").set_value(True).run()
    assert len(charts(app)["paper-simulation"]["data"]) == 12


def test_step_table_and_snippets_follow_the_settings():
    app = open_page("rectification")
    table = app.dataframe[-1].value
    np.testing.assert_allclose(table["r_t"][4:], rectification(np.arange(5, 1001), 0.999))
    assert list(table["branch"][:5]) == ["momentum"] * 4 + ["adaptive"]
    app = open_page("implementations")
    assert 'profile="paper"' in app.code[0].value
    assert len(app.code) == 1
    app.button_group(key="implementations-profile").set_value("torch").run()
    assert "torch.optim.RAdam" in app.code[1].value


@pytest.mark.parametrize("shift", range(len(HOSTILE)))
@pytest.mark.parametrize("name", LINK_KEYS)
def test_hostile_links_give_a_working_page_and_sentences(name, shift):
    query, refused = hostile_query(name, shift)
    app = open_page(name, **query)
    assert not app.exception
    assert sum("The link asked for" in warning.value for warning in app.warning) == refused
