"""What a sweep has found, as JSON for the browser: figures ready to draw, tables, sentences, and points to scatter."""

import json
from typing import Any

from dashboard.asked.sweep_config import LR, WARMUP
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import number
from dashboard.evidence.signs import AT_STEPS, SIGNS, measured
from dashboard.evidence.steps import grid_steps
from dashboard.figures.sweep import courses_figure, rates_figure
from dashboard.words.sweep_words import READINGS, auc_words, sign_sentences, warmup_sentences


def findings_json(found: Findings) -> bytes:
    plain = {
        "figures": {
            "rates": plain_figure(rates_figure(found)),
            "courses": plain_figure(courses_figure(found, grid_steps(found.config.steps))),
        },
        "needs": [_needs(found, number) for number in range(len(found.config.contenders))],
        "sentences": warmup_sentences(found),
        "table": _table(found),
        "signs": _signs(found),
        "sign_sentences": sign_sentences(found),
        "points": _points(found),
    }
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def plain_figure(figure: Any) -> Any:
    """For the browser, which has a template of its own."""
    plain = json.loads(figure.to_json())
    plain["layout"].pop("template", None)
    return plain


def _needs(found: Findings, contender: int) -> list[int | None]:
    """By learning rate: the row of the shortest warmup that works, as many as there are rows if none does, None while
    that is open."""
    lengths = list(found.config.axes.get(WARMUP, ()))
    rates = [rate * found.config.contenders[contender].lr_times for rate in found.config.axes[LR]]
    rows: dict[float, int | None] = {}
    for one in found.needed(contender):
        known = one.tried == one.of
        rows[one.lr] = None if not known else len(lengths) if one.length is None else lengths.index(one.length)
    return [rows.get(float(f"{rate:.12g}")) for rate in rates] if rows else []


def _table(found: Findings) -> dict[str, Any]:
    better = f"best mean {found.metric}" if found.metric else ""
    rows = []
    for line in found.lines:
        best, robust, sensitivity = line.best, line.robust_share(), line.lr_sensitivity()
        over = [one for rate in line.rates for one in rate.over]
        cells = sum(len(rate.cells) for rate in line.rates)
        metrics = [rate.mean_metric for rate in line.known if rate.mean_metric == rate.mean_metric]
        metric = None if not metrics else max(metrics) if line.better == "higher" else min(metrics)
        rows.append(
            [
                line.name,
                "–" if not line.has_rates else "…" if robust is None else f"{robust:.0%}",
                "–" if not line.has_rates else "…" if sensitivity is None else f"{sensitivity:.2f}",
                f"{best.lr:g}" if best else "…",
                f"{sum(best.ends) / len(best.ends):.3g}" if best else "…",
                "…"
                if metric is None
                else f"{metric:.1%}"
                if line.better == "higher" and metric <= 1
                else f"{metric:.3g}",
                f"{sum(bool(one.learns) for one in over)} of {len(over)}"
                + (f" ({cells} cells)" if len(over) < cells else ""),
            ]
        )
    several = any(line.has_rates for line in found.lines)
    share, sensitive = "robust share" if several and found.metric else "", "LR sensitivity" if several else ""
    head = ["", share, sensitive, "best lr", "mean loss there", better, "learned"]
    keep = [i for i, name in enumerate(head) if name or i == 0]
    return {"head": [head[i] for i in keep], "rows": [[row[i] for i in keep] for row in rows]}


def _signs(found: Findings) -> list[dict[str, Any]]:
    """A row a measure, with its AUC at each of the steps."""
    rows = []
    for sign in SIGNS:
        own = [row for row in found.signs if row["measure"] == sign.name]
        rows.append(
            {
                "label": sign.label,
                "reading": READINGS[sign.reading],
                "warns": "large" if sign.warns > 0 else "small",
                "auc": [None if row["auc"] is None else auc_words(row["auc"]) for row in own],
                "cells": max(row["cells"] for row in own),
            }
        )
    return rows


def _points(found: Findings) -> dict[str, Any]:
    """Every early measure of every lane, for the browser to set two of them against each other."""
    measures = [
        {
            "label": f"{sign.label}, step {step}",
            "values": [number(measured(one, sign.name, step)) for one in found.found],
        }
        for step in AT_STEPS
        for sign in SIGNS
    ]
    known = [one for one in measures if any(value is not None for value in one["values"])]
    return {
        "measures": known,
        "learned": [one.learns for one in found.found],
        "labels": [one.cell.lane.label for one in found.found],
    }
