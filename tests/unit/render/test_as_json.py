"""Explanations and records as JSON: the same keys in every row, printable ASCII."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import Origin, RobotsTxt
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.render.as_json import dumps, full_object, short_object
from scrapy_robotspec.render.explanation import Explanation, in_full, refused_by_usage
from scrapy_robotspec.render.parsed_file import ParsedFile
from tests.unit.render.asking import explain_in_full

URL = "http://shop.example/a"
SHOP = Origin("http", "shop.example", 80)
ROBOTS = RobotsTxt.parse(b"User-agent: *\nCrawl-delay: 2\nDisallow: /a\n")
HOP = Hop("http://shop.example/robots.txt", 301, "http://www.shop.example/robots.txt")
RECORD = RobotsRecord(
    SHOP, Meaning.RULES, 200, b"x", hops=(HOP,), fetched_at=1000.0, expires_at=1600.0
)


@given(st.text())
def test_json_is_printable_ascii(text: str) -> None:
    """No JSON line holds anything but printable ASCII (SAF-04)."""
    line = dumps({"text": text})
    assert line.isascii()
    assert line.isprintable()


def test_each_row_has_the_same_keys() -> None:
    """A site without an answer, one with a record, and a file; null where there is nothing."""
    decision = Decision(False, "rule", ROBOTS.explain(URL, "foo"), origin=SHOP)
    site = Explanation(URL, (), decision, seconds=0.1, record=RECORD, robots=ROBOTS)
    found = [
        Explanation(URL, problem="no network", seconds=0.1),
        in_full(site, ParsedFile(ROBOTS)),
        explain_in_full(ROBOTS, URL, "foo"),
    ]
    rows = [full_object(each) for each in found]
    assert len({tuple(row) for row in rows}) == 1
    assert [row["path"] for row in rows] == [None, "/a", "/a"]
    assert [row["crawl_delay"] for row in rows] == [None, 2.0, 2.0]
    assert [row["meaning"] for row in rows] == [None, "rules", None]
    for each, row in zip(found, rows, strict=True):
        assert short_object(each).items() <= row.items()


def test_statements_say_whether_they_decide() -> None:
    """USE-01: a longer path hides a statement, which is named all the same."""
    body = b"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y\n"
    shown = full_object(explain_in_full(RobotsTxt.parse(body), "/a", "foo"))
    assert shown["usage"]["preferences"] == {"train-ai": "allow"}
    assert [(each["line"], each["decides"]) for each in shown["usage"]["statements"]] == [
        (3, True),
        (2, False),
    ]


def test_the_line_is_that_of_the_usage_statement_that_refuses() -> None:
    """USE-05: the rule that allows the page decides nothing then."""
    robots = RobotsTxt.parse(b"User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n")
    asked = explain_in_full(robots, "/a", "foo")
    assert short_object(asked)["line"] == 3
    shown = short_object(refused_by_usage(asked, ["train-ai"]))
    assert (shown["allowed"], shown["reason"], shown["line"]) == (False, "usage", 2)
    assert [shown[name] for name in ("kind", "pattern", "rule", "read_as")] == [None] * 4
    assert shown.keys() == short_object(asked).keys()


def test_a_record_is_shown_without_its_file() -> None:
    shown = json.loads(dumps(full_object(Explanation(URL, record=RECORD))))
    assert (shown["lifetime"], shown["bytes"], shown["meaning"]) == (600.0, 1, "rules")
    assert shown["hops"] == [{"url": HOP.url, "status": 301, "target": HOP.target}]
    assert full_object(Explanation(URL, record=RobotsRecord(SHOP)))["lifetime"] is None
