"""The middle part of the longest walk: by menu, and back by the browser's button."""

from tests.dashboard.test_journeys import is_as_it_was
from tests.dashboard.walking import parts, walked


def test_every_page_is_found_as_it_was_left_on_the_ways_between_too(browser, server):
    walk = parts()[1]
    with walked(browser, server, walk, paused=False) as (page, left):
        for name in reversed(walk[:-1]):
            page.go_back()
            is_as_it_was(page, name, left[name])
