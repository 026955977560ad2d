"""Keys that compare as rules take precedence (PRE-01, PRE-02)."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.precedence import (
    NO_RULE,
    best_key,
    forbids,
    keyed_patterns,
    line_start,
    matching_keys,
)

#: Whether a rule allows, its value, and the offset of its line.
RULES = [(True, b"/a", 10), (False, b"/a", 20), (False, b"/a/*b", 30), (True, b"", 40)]


def test_the_smallest_key_is_that_of_the_deciding_rule() -> None:
    """PRE-01, PRE-02: the longest; of equally long ones one that allows."""
    edition = EDITIONS["google-2019"]
    keys = sorted(matching_keys(keyed_patterns(RULES, edition), "/a/b"))
    assert [(line_start(key), forbids(key)) for key in keys] == [
        (30, True),
        (10, False),
        (20, True),
    ]
    assert best_key(RULES, "/a/b", edition) == keys[0]
    assert best_key(RULES, "/x", edition) == NO_RULE
    assert not forbids(NO_RULE)


@pytest.mark.parametrize(("edition", "deciding"), [("google", 10), ("google-2019", 20)])
def test_a_trailing_star_counts_where_the_edition_says_so(edition: str, deciding: int) -> None:
    """PAT-03, PRE-01."""
    rules = [(False, b"/a*", 10), (True, b"/a", 20)]
    assert line_start(best_key(rules, "/ab", EDITIONS[edition])) == deciding


@pytest.mark.parametrize(
    ("value", "pattern"), [(b"/a*", "/a"), (b"/a$", "/a#"), (b"/%41**b", "/A*b"), (b"*.x", "*.x")]
)
def test_patterns_are_canonical(value: bytes, pattern: str) -> None:
    """PAT-02, PAT-05: those with special characters as all others."""
    assert [text for _, text in keyed_patterns([(True, value, 0)], EDITIONS["google-2019"])] == [
        pattern
    ]
