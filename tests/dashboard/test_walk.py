"""The first part of the longest walk: by menu, back by the browser's button, and forward again."""

from itertools import pairwise

from tests.dashboard.test_journeys import NAMES, is_as_it_was
from tests.dashboard.walking import parts, walked


def test_the_walk_takes_every_way_once():
    ways = [way for part in parts() for way in pairwise(part)]
    assert all(before[-1] == after[0] for before, after in pairwise(parts()))
    assert len(ways) == len(set(ways)) == len(NAMES) * (len(NAMES) - 1)


def test_every_page_is_found_as_it_was_left_whichever_way_one_comes(browser, server):
    walk = parts()[0]
    with walked(browser, server, walk, paused=True) as (page, left):
        for name in reversed(walk[:-1]):
            page.go_back()
            is_as_it_was(page, name, left[name])
        for name in walk[1 : len(NAMES) + 1]:
            page.go_forward()
            is_as_it_was(page, name, left[name])
