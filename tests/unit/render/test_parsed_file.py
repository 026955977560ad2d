"""The summary of a file agrees with the protocol's own answers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile

NAMES = ["a", "A", "a-b", "a-b-c", "b", "*", "ab", "", "* x", "a/1"]
LINE = st.one_of(
    st.sampled_from(NAMES).map(lambda name: f"User-agent: {name}"),
    st.sampled_from(["Disallow: /x", "Allow: /x/y", "Crawl-delay: 3", "Noise: 1", "", "# c"]),
)


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=60)
@given(lines=st.lists(LINE, max_size=12), tokens=st.lists(st.sampled_from(NAMES[:5]), max_size=2))
def test_the_group_for_a_crawler_is_the_one_that_the_verdict_names(
    edition: str, lines: list[str], tokens: list[str]
) -> None:
    """UAG-01, GRP-08, EXT-03: names, rules, other lines and crawl delay are the protocol's own."""
    robots = RobotsTxt.parse("\n".join(lines).encode(), edition)
    file = ParsedFile(robots)
    found = file.group_for(tokens)
    assert file.matches("/x/y", found) == robots.matches("/x/y", tokens)
    assert found.names == robots.explain("/q", tokens).group
    assert found.other == robots.other(tokens)
    assert found.crawl_delay == robots.crawl_delay(tokens)
    matching = {rule.line for rule in robots.matches("/x/y", tokens)}
    assert matching == {rule.line for rule in found.rules}
    assert len(found.first_lines) == len(set(found.first_lines))


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_name_of_a_file_is_a_crawler_to_ask_for(edition: str) -> None:
    """Once each, as first written, and asking for it finds its group (--each-token)."""
    agents = b"User-agent: One\nUser-agent: one\nDisallow: /\n\nUser-agent: two\nUser-agent: *\n"
    body = agents + b"Allow: /\n"
    file = ParsedFile(RobotsTxt.parse(body, edition))
    assert file.tokens == (["One"] if edition == "classic" else ["One", "two"])
    for token in file.tokens:
        assert file.group_for([token]).names == (token,)
