"""The index of user-agent lines leads to the rules that reading every line finds."""

from __future__ import annotations

import pickle
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition, has_plain_lines
from scrapy_robotspec.protocol import (
    agent_index,
)
from scrapy_robotspec.protocol.agent_index import numbers_of
from scrapy_robotspec.protocol.agents import asked_keys, followed_keys
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lines import raw_rules
from scrapy_robotspec.protocol.robots_file import RobotsFile
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import (
    EVERY,
    HOST,
    bodies,
    some_tokens,
)


@pytest.mark.parametrize("edition", EVERY.values(), ids=EVERY)
def test_an_edition_is_read_as_quickly_in_another_process(edition: Edition) -> None:
    """Pickling makes other objects of its values."""
    assert has_plain_lines(pickle.loads(pickle.dumps(edition))) is has_plain_lines(edition)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies, tokens=some_tokens)
def test_index_leads_to_the_rules_that_reading_finds(
    name: str, body: bytes, tokens: list[str]
) -> None:
    """GRP-01 to GRP-05, GRP-08, UAG-01 to UAG-07: for the first crawler, and for others."""
    edition = EVERY[name]
    asked = accepted(tokens, edition)
    all_groups = AllGroups(body, edition)
    keys = followed_keys(all_groups.places, asked_keys(asked, edition), edition)
    numbers = numbers_of(all_groups.places, keys)
    rules = raw_rules(line for number in numbers for line in all_groups.groups[number].rules)
    partial, second, complete = (RobotsFile(body, edition) for _ in range(3))
    second.follow("otherbot")
    assert list(complete.index.places) == list(all_groups.places)
    for file in (partial, second, complete):
        followed = file.follow(asked)
        assert followed.keys == keys
        assert followed.names == tuple(all_groups.places[key][0] for key in keys)
        assert followed.rules.rules == rules


short_names = st.text("abB9-/* é", max_size=3)
ends = st.sampled_from(["\n", "\r\n", "#\n", "/1.0\n", " \nDisallow: /a\n", "\nAllow: /\n\n"])


@given(lines=st.lists(st.tuples(short_names, ends)), last=short_names, tokens=st.lists(short_names))
def test_names_in_a_crawlers_name_are_not_left_out(
    lines: list[tuple[str, str]], last: str, tokens: list[str]
) -> None:
    """UAG-10: those of one letter, too, and the one that ends the file."""
    text = "".join(f"User-agent: {name}{end}" for name, end in (*lines, (last, "")))
    file = RobotsFile(text.encode(), EVERY["classic"])
    asked = tuple(token for token in tokens if token.strip()) or ("ab",)
    every = AllGroups(file.body, file.edition).places
    keys = followed_keys(every, asked_keys(asked, file.edition), file.edition)
    assert file.follow(asked).keys == keys


@pytest.mark.parametrize("before", [b"", b"x ", b"user-agent: *\n#"])
def test_a_line_of_user_agent_fields_is_read_once(before: bytes) -> None:
    """SAF-02: what stands behind a field is read to the line's end only where it begins a line."""
    body = before + b"user-agent:" * 1_000
    with patch.object(agent_index, "_AGENT", wraps=agent_index._AGENT) as reads:
        assert RobotsTxt.parse(body).allowed(HOST + "/", "a")
    assert reads.call_count <= 1


def test_an_empty_spelling_is_that_of_every_field() -> None:
    """FMT-14: where fields may continue, each begins with it."""
    google = EDITIONS["google"]
    fields = (*google.known_fields, (b"", "disallow"))
    robots = RobotsTxt.parse(
        b"User-agent: *\nAllow: /x\nforbid: /x/y\n", replace(google, known_fields=fields)
    )
    assert [robots.allowed(path, "foo") for path in ("/x", "/x/y")] == [True, False]
