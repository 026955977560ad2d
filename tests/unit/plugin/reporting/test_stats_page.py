"""docs/spiders.md names every stat that the plugin counts, every key it sets, and none besides."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

import scrapy_robotspec
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.plugin.deciding.request_policy import Answer, read_extensions
from scrapy_robotspec.plugin.enforcement import summarize
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

PAGE = (Path(__file__).parents[4] / "docs" / "spiders.md").read_text("utf-8")
CODE = [
    path.read_text("utf-8")
    for path in (Path(scrapy_robotspec.__file__).parent / "plugin").rglob("*.py")
]
STAT = re.compile(r"""["'](robots(?:pec|txt)/[^"'\s]*[^"'\s/])["']""")


def counted() -> set[str]:
    """The stats named in the code; what is filled in at run time stands as ``X``."""
    return {re.sub(r"\{[^}]*\}", "X", name) for text in CODE for name in STAT.findall(text)}


def documented() -> set[str]:
    """The stats in the page's table; what differs from case to case stands in capitals."""
    return set(re.findall(r"^\| `(robots[a-z]+/[^`]+)` \|", PAGE, re.MULTILINE))


def are_one(name: str, other: str) -> bool:
    """Whether two names agree, capitals being open."""
    pairs = list(zip_longest(name.split("/"), other.split("/"), fillvalue=""))
    return all(a == b or (a and b and (a.isupper() or b.isupper())) for a, b in pairs)


def test_every_stat_that_is_counted_is_documented() -> None:
    known = documented()
    assert [name for name in counted() if not any(are_one(name, each) for each in known)] == []


def test_every_stat_that_is_documented_is_counted() -> None:
    known = counted()
    assert [name for name in documented() if not any(are_one(name, each) for each in known)] == []


def test_the_keys_of_the_meta_dict_are_documented() -> None:
    table = PAGE.partition("It is a dict of plain values:")[2].partition("Keys that begin")[0]
    first_cells = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    keys = [key for cell in first_cells for key in re.findall(r"`(\w+)`", cell)]
    robots = RobotsTxt.parse(b"License: http://a/b\nUser-agent: *\nContent-Usage: search=n\n")
    extensions, usage = read_extensions(robots, ("foo",)), robots.usage("http://a/", ("foo",))
    assert keys == list(summarize(Answer(Decision(True, "no_rule"), None, extensions, usage)))
