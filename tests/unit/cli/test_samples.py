"""The paths checked when none is given."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.cli import editions
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

PATTERN = st.builds(
    lambda head, rest: head + "".join(rest),
    st.sampled_from(["/", "/*", "*", "/a"]),
    st.lists(st.sampled_from(["*", "$", "/", "a", "%41", "?q=", ".php", "é"]), max_size=5),
)


@settings(max_examples=100)
@given(st.lists(PATTERN, min_size=1, max_size=5))
def test_each_rule_matches_one_of_the_paths(patterns: list[str]) -> None:
    """Whatever a rule says, one of the paths finds out; without it a diff could miss a change."""
    lines = ["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns)]
    robots = RobotsTxt.parse("\n".join(lines).encode())
    paths = editions.sample_paths(robots.groups)
    found = {rule.line for path in paths for rule in robots.matches(path, ())}
    assert found == set(range(2, 2 + len(patterns)))


def test_paths_are_distinct_and_bounded() -> None:
    """A file of many rules does not make a list without end."""
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % n for n in range(5000))
    paths = editions.sample_paths(RobotsTxt.parse(body).groups)
    assert len(paths) == len(set(paths)) == editions.MAX_PATHS
    assert paths[0] == "/"
