"""The last part of the longest walk: by menu, and back by the browser's button, with each page loaded again once."""

from tests.dashboard.test_journeys import NAMES, is_as_it_was
from tests.dashboard.walking import parts, walked


def test_every_page_is_found_as_it_was_left_after_a_reload_too(browser, server):
    walk = parts()[2]
    with walked(browser, server, walk, paused=False) as (page, left):
        again = set(NAMES)
        for name in reversed(walk[:-1]):
            page.go_back()
            is_as_it_was(page, name, left[name])
            if name in again:
                again.remove(name)
                page.reload()
                is_as_it_was(page, name, left[name])
        assert not again
