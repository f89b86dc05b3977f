"""The browser's form of a frame: the same numbers, by lane, in JSON that every browser reads."""

import json
import math

import numpy as np
import pytest

from dashboard.config import RaceConfig
from dashboard.headless import frames
from dashboard.presets import lane
from dashboard.wire import COLUMNS, plain_numbers, wire, wire_bytes
from radam_core.frames import decode_frame, encode_frame

CONFIG = RaceConfig.make(
    {
        "task": "surfaces",
        "steps": 60,
        "steps_per_frame": 20,
        "record_every": 5,
        "evaluate_every": 30,
        "lanes": [lane("adam", 2e-2), lane("radam", 2e-2), lane("sgd", 1e3)],  # the last one diverges at once
    }
)


@pytest.fixture(scope="module")
def recorded():
    return list(frames(CONFIG))


def test_every_column_is_the_frames_own_by_lane_to_five_digits(recorded):
    for frame in recorded:
        plain = json.loads(wire_bytes(frame))
        assert (plain["number"], plain["first"], plain["last"]) == (frame.number, frame.first, frame.last)
        assert plain["steps"] == frame.steps.tolist()
        for name in COLUMNS:
            sent = np.array(plain[name], dtype=float)  # None becomes nan
            np.testing.assert_allclose(sent, np.where(np.isfinite(own := getattr(frame, name).T), own, np.nan), 5e-5)
        assert np.allclose(np.array(plain["positions"], dtype=float), frame.positions.swapaxes(0, 1), rtol=5e-5)
        assert plain["status"] == list(frame.status)
        assert plain["diverged_at"] == list(frame.diverged_at)
        assert list(plain["metrics"]) == [str(t) for t in frame.metrics]


def test_what_is_not_finite_is_null_and_no_line_breaks(recorded):
    text = wire_bytes(recorded[-1]).decode()
    assert json.loads(text)["loss"][2][-1] is None
    assert "\n" not in text
    assert "NaN" not in text
    assert plain_numbers(np.array([1.23456789, -math.inf, math.nan])) == [1.2346, None, None]
    assert plain_numbers(np.array([[2**40 + 1]])) == [[2**40 + 1]]


def test_histograms_are_trimmed_but_nothing_is_lost(recorded):
    own = recorded[0].histograms
    sent = wire(recorded[0])["histograms"]
    assert [h["t"] for h in sent] == [h.t for h in own] == [1, 5, 10]
    for plain, histograms in zip(sent, own, strict=True):
        counts = np.array(plain["counts"])
        again = np.zeros_like(histograms.counts)
        again[..., plain["first_bin"] : plain["first_bin"] + counts.shape[-1]] = counts
        again[..., 0] = plain["zeros"]
        np.testing.assert_array_equal(again, histograms.counts)
        assert counts[..., 0].any()
        assert counts[..., -1].any()


def test_a_decoded_frame_gives_the_same_bytes(recorded):
    lanes = CONFIG.entry().lanes
    for frame in recorded:
        assert wire_bytes(decode_frame(encode_frame(frame), lanes)) == wire_bytes(frame)


def test_samples_travel_when_there_are_some(recorded):
    samples = [[("eins", "one", "one")], [("zwei", "one", "two")], [("drei", "", "three")]]
    assert "samples" not in wire(recorded[0])
    assert json.loads(wire_bytes(recorded[0], samples))["samples"][1] == [["zwei", "one", "two"]]
