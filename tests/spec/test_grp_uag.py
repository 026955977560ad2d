"""GRP, UAG: the groups as written, and the group a verdict names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
URL = "http://example.com/x"


def groups(body: bytes, edition: str) -> list[tuple[tuple[str, ...], list[str], int]]:
    """Tokens, rule texts and first line of each group of a file."""
    found = RobotsTxt.parse(body, edition).groups
    return [
        (group.tokens, [rule.text for rule in group.rules], group.first_line) for group in found
    ]


EXAMPLE = b"""\
user-agent: a
disallow: /c

user-agent: b
disallow: /d

user-agent: e
user-agent: f
disallow: /g
"""


@in_every_edition
def test_example_holds_four_groups(edition: str) -> None:
    """GRP-09, GRP-06: the newer documents' example ends in an empty group."""
    assert groups(EXAMPLE + b"\nuser-agent: h\n", edition) == [
        (("a",), ["disallow: /c"], 1),
        (("b",), ["disallow: /d"], 4),
        (("e", "f"), ["disallow: /g"], 7),
        (("h",), [], 11),
    ]


@in_every_edition
def test_rules_without_a_path_are_rules_of_the_group(edition: str) -> None:
    """RUL-02, GRP-01: they are shown where they stand."""
    body = b"User-agent: a\nDisallow:\nUser-agent: b\nAllow:\n"
    assert groups(body, edition) == [
        (("a",), ["Disallow:"], 1),
        (("b",), ["Allow:"], 3),
    ]


def test_blank_line_ends_a_record_in_the_oldest_convention_only() -> None:
    """GRP-03, FMT-15: one group, or two records."""
    body = b"User-agent: a\n\nUser-agent: b\nDisallow: /\n"
    for edition in EDITIONS:
        tokens = [group.tokens for group in RobotsTxt.parse(body, edition).groups]
        assert tokens == ([("a",), ("b",)] if edition == "classic" else [("a", "b")])


@in_every_edition
def test_names_stand_as_written(edition: str) -> None:
    """UAG-03, GRP-10: the name without the text behind it, in the case of the file."""
    (group,) = RobotsTxt.parse(b"User-agent: FooBot/1.0\nUser-agent: * x\n", edition).groups
    assert group.tokens == ("FooBot", "*")


def test_one_line_names_one_agent() -> None:
    """GRP-10: a list on one line is one name, or its beginning."""
    for edition in EDITIONS:
        (group,) = RobotsTxt.parse(b"User-agent: a, b\n", edition).groups
        assert group.tokens == (("a, b",) if edition == "classic" else ("a",))


@in_every_edition
def test_verdict_names_the_group_followed(edition: str) -> None:
    """EXT-02, UAG-05: its own name, the star, or nothing."""
    body = b"User-agent: FooBot\nDisallow: /x\nUser-agent: *\nDisallow: /x\n"
    robots = RobotsTxt.parse(body, edition)
    assert robots.explain(URL, "foobot").group == ("FooBot",)
    assert robots.explain(URL, "BarBot").group == ("*",)
    alone = RobotsTxt.parse(b"User-agent: FooBot\nDisallow: /x\n", edition)
    assert alone.explain(URL, "BarBot").group == ()


def test_equally_specific_names_stand_in_one_order() -> None:
    """UAG-10, EXT-02: the same in every process, though hashes of names differ."""
    lines = (f"User-agent: {name}\nDisallow: /{name}\n" for name in "fedcba")
    verdict = RobotsTxt.parse("\n".join(lines).encode(), "classic").explain(URL, "a-b-c-d-e-f")
    assert verdict.group == tuple("abcdef")


@in_every_edition
def test_case_of_tokens_can_be_minded(edition: str) -> None:
    """UAG-02: a user may allow that letter in an edition of their own."""
    strict = replace(EDITIONS[edition], case_sensitive_tokens=True)
    robots = RobotsTxt.parse(b"User-agent: FooBot\nDisallow: /x\n", strict)
    assert not robots.allowed(URL, "FooBot")
    assert robots.allowed(URL, "foobot")


@in_every_edition
def test_no_token_follows_the_default_group(edition: str) -> None:
    """UAG-05: a crawler without a name is still everyone."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /x\n", edition)
    assert not robots.allowed(URL, ())
