"""plotly.js as it is served: the kinds of charts that the lab draws, and the whole library where it can't be cut."""

import re

import pytest

from bench.driving.visiting import flawless_page
from dashboard.browser.plotly_cut import KINDS, PLOTLY_JS, cut, plotly_js

# Each with as little as it needs to draw a mark of its own.
MARKS = {
    "scatter": ({"x": [1, 2], "y": [1, 2]}, ".scatterlayer .trace"),
    "bar": ({"x": [1, 2], "y": [1, 2]}, ".barlayer .trace"),
    "contour": ({"z": [[1, 2], [3, 4]]}, ".contourlayer > *"),
    "heatmap": ({"z": [[1, 2], [3, 4]]}, ".heatmaplayer image"),
}
# A library in small, of the form of the real one: two kinds of traces, and a module that only the second needs.
SMALL = (
    '/** licence */\n"use strict";var Plotly=(()=>{var M=(f)=>f,t=1;var core=M((e,m)=>{m.exports=t});'
    'var barOf=M((e,m)=>{m.exports={moduleType:"trace",name:"bar"}});var bar=M((e,m)=>{m.exports=barOf()});'
    'var globe=M((e,m)=>{m.exports=7});var mapOf=M((e,m)=>{globe();m.exports={moduleType:"trace",name:"map"}});'
    "var map=M((e,m)=>{m.exports=mapOf()});"
    "var all=M((e,m)=>{var c=core();c.register([bar(),map()]);m.exports=c});return all()})();"
    "\nwindow.Plotly = Plotly;\n"
)


def test_only_what_a_wanted_kind_needs_is_kept():
    kept = re.findall(r"var (\w+)=M\(", cut(SMALL, ("bar",)))
    assert kept == ["core", "barOf", "bar", "all"]
    assert "register([bar()])" in cut(SMALL, ("bar",))
    assert cut(SMALL, ("bar",)).startswith("/** licence */")
    assert "globe" in cut(SMALL, ("map",))


@pytest.mark.parametrize("library", ["", "window.Plotly = {}", SMALL.replace("register", "enlist")])
def test_a_library_of_another_form_is_left_whole(library):
    assert cut(library, ("bar",)) == library


def test_a_library_that_lacks_a_kind_is_left_whole():
    assert cut(SMALL, ("bar", "violin")) == SMALL


def test_the_installed_library_is_cut_to_a_quarter():
    """If this fails after an upgrade, the pages still draw, with all of the new file: see whether its form is known."""
    assert len(plotly_js()) < 0.3 * PLOTLY_JS.stat().st_size


def test_every_kind_is_drawn_by_it(browser):
    assert set(MARKS) == {"scatter", *KINDS}
    with flawless_page(browser) as page:
        page.goto("data:text/html,<div id=chart></div>")
        page.add_script_tag(content=plotly_js())
        for kind, (values, mark) in MARKS.items():
            page.evaluate(
                "([trace]) => Plotly.newPlot('chart', [trace], {width: 400, height: 300})", [{"type": kind, **values}]
            )
            assert page.locator(f"#chart {mark}").count() > 0, kind
        assert page.evaluate("Plotly.PlotSchema.get().traces.scatter3d") is None, "it was not cut"
