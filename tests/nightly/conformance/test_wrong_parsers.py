"""A parser with one plausible mistake fails a required case of each specification that it violates.

The mistakes are made in the reference reading: in the file before it is read, in the URL, in one of
its functions, or by a value of another specification. ``fuzz/wrong_parsers.py`` searches others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest

from conformance.build import specifications
from scrapy_robotspec.editions import AgentMatch, Edition, Slashless
from tests.support.reference import PlainGroup, PlainRule
from tests.support.wrong_parsers import (
    MODERN,
    Wrong,
    address,
    both,
    failed,
    function,
    groups,
    reads,
    text,
)

RFC = ("rfc9309",)
#: Those that know nothing of Google's matcher and its limits.
UNLIMITED = ("rfc9309", "google-2019", "google-2010")
#: Those that combine all groups of a crawler.
COMBINING = ("rfc9309", "google", "google-2019")
WITH_LIMIT = ("rfc9309", "google-2019")


def in_paths(pattern: str, by: str) -> Callable[[Any], None]:
    """A parser that changes each path of the file and the path of the URL."""

    def line(each: str) -> str:
        field, colon, value = each.partition(":")
        return field + colon + re.sub(pattern, by, value)

    def url(each: str) -> str:
        scheme, slashes, rest = each.partition("://")
        return scheme + slashes + re.sub(pattern, by, rest)

    def apply(parser: Any) -> None:
        text(lambda file: "\n".join(map(line, re.split("\r\n|\r|\n", file))))(parser)
        address(url)(parser)

    return apply


def first_lines(number: int) -> Callable[[Any], None]:
    """A parser that reads the first lines only."""
    return reads(lambda body: b"".join(body.splitlines(keepends=True)[:number]))


def first_bytes(number: int) -> Callable[[Any], None]:
    """A parser that reads the first bytes only."""
    return reads(lambda body: body[:number])


def first_rules(number: int) -> Callable[[Any], None]:
    """A parser that keeps the first rules of each group only."""

    def cut(found: list[PlainGroup]) -> list[PlainGroup]:
        return [replace(group, rules=group.rules[:number]) for group in found]

    return groups(cut)


def rules_cut(number: int) -> Callable[[Any], None]:
    """A parser that reads the first characters of a rule's path only."""
    return function(
        "pattern_matches",
        lambda right, pattern, path, edition: right(pattern[:number], path, edition),
    )


def url_cut(number: int) -> Callable[[Any], None]:
    """A parser that reads the first characters of a URL only."""
    return address(lambda url: url[:number])


def by_regex(make: Callable[[str], str]) -> Callable[[Any], None]:
    """A parser that makes a regular expression of a pattern."""
    return function(
        "pattern_matches",
        lambda right, pattern, path, edition: bool(re.match(make(pattern), path, re.DOTALL)),
    )


def counted(length: Callable[[PlainRule], Any]) -> Callable[[Any], None]:
    """A parser that weighs rules in another way."""

    def match_length(right: Any, rule: PlainRule, path: str, edition: Edition) -> Any:
        return None if right(rule, path, edition) is None else length(rule)

    return function("match_length", match_length)


def chosen(rule: Callable[[list[PlainGroup], set[str]], list[PlainGroup]]) -> Callable[[Any], None]:
    """A parser that chooses groups in another way, by the names of its own."""

    def followed(right: Any, found: Any, tokens: Any, edition: Edition) -> list[PlainRule]:
        own = {token.lower() for token in tokens}
        return [each for group in rule(found, own) for each in group.rules]

    return function("rules_followed", followed)


def _named(found: list[PlainGroup], own: set[str]) -> list[PlainGroup]:
    """The groups of the crawler, else the default ones."""
    mine = [group for group in found if own & {*group.agents}]
    return mine or [group for group in found if "*" in group.agents]


LIMITS = [
    *(Wrong(f"reads the first {number:,} lines", first_lines(number)) for number in (24, 1_000)),
    *(
        Wrong(f"reads the first {size:,} bytes", first_bytes(size), specs)
        for size, specs in (
            (1_000, MODERN),
            (65_536, (*WITH_LIMIT, "google")),
            (400_000, WITH_LIMIT),
        )
    ),
    *(
        Wrong(f"reads the first {number:,} rules of a group", first_rules(number))
        for number in (1, 8, 100, 2_500)
    ),
    *(
        Wrong(f"cuts rules after {number:,} characters", rules_cut(number))
        for number in (8, 100, 255, 1_024, 4_096)
    ),
    *(
        Wrong(f"cuts URLs after {number:,} characters", url_cut(number))
        for number in (32, 255, 2_048, 4_096)
    ),
    Wrong(
        "reads 10,000 bytes of a line",
        reads(lambda body: re.sub(rb"(?<=.{10000}).+", b"", body)),
        ("rfc9309", "google"),
        "FMT-13",
    ),
    Wrong("reads 1,000 bytes of a line", reads(lambda body: re.sub(rb"(?<=.{1000}).+", b"", body))),
]

LINES = [
    Wrong(
        "splits lines as str.splitlines does",
        text(lambda file: "\n".join(file.splitlines())),
        statement="FMT-02",
    ),
    Wrong(
        "ends lines with LF only", text(lambda file: file.replace("\r", "\v")), statement="FMT-02"
    ),
    Wrong(
        "joins a line with the one after a backslash",
        text(lambda file: file.replace("\\\n", "")),
        UNLIMITED,
        "FMT-02",
    ),
    Wrong(
        "gives up at the first invalid line",
        text(lambda file: "" if "<html>" in file else file),
        RFC,
        "FMT-03",
    ),
    Wrong(
        "gives up at a byte that is not UTF-8",
        reads(lambda body: body if body.decode("utf-8", "ignore").encode() == body else b""),
        RFC,
        "FMT-04",
    ),
    Wrong(
        "reads the file as Latin-1",
        reads(lambda body: body.decode("latin-1").encode()),
        statement="FMT-01",
    ),
    Wrong("strips no-break spaces", text(lambda file: file.replace("\u00a0", " ")), RFC, "FMT-06"),
    Wrong(
        "strips one space after a colon only",
        text(lambda file: re.sub(r"(?m)^([^:\n]*:)  ", r"\1%20", file)),
        statement="FMT-06",
    ),
    Wrong(
        "strips spaces but no tabs before a comment",
        text(lambda file: re.sub(r"\t(?=#)", "%09", file)),
        statement="FMT-07",
    ),
    Wrong(
        "starts comments after a space only",
        text(lambda file: re.sub(r"(?<=\S)#", "%23", file)),
        statement="FMT-07",
    ),
    Wrong(
        "removes a byte order mark from each line",
        text(lambda file: file.replace("\ufeff", "")),
        ("google-2019",),
        "FMT-05",
    ),
]


GROUPS = [
    Wrong(
        "ends a group at a Crawl-delay line",
        text(lambda file: file.replace("Crawl-delay:", "Disallow: ?")),
        COMBINING,
        "GRP-04",
    ),
    Wrong(
        "follows the first of its groups only",
        chosen(lambda found, own: _named(found, own)[:1]),
        COMBINING,
        "GRP-08",
    ),
    Wrong(
        "follows the default group too",
        chosen(lambda found, own: [each for each in found if {"*", *own} & {*each.agents}]),
        statement="UAG-01",
    ),
]

PATHS = [
    Wrong("drops the query", address(lambda url: url.partition("?")[0]), statement="PAT-01"),
    Wrong(
        "drops the parameters after a semicolon",
        address(lambda url: url.partition(";")[0]),
        UNLIMITED,
        "PAT-01",
    ),
    Wrong(
        "compares from the last two slashes on",
        address(lambda url: re.sub(r".*//[^/]*", "x://h", url)),
        statement="PAT-01",
    ),
    Wrong("folds slashes", in_paths("//+", "/"), statement="PAT-01"),
    Wrong("reads a plus sign as a space", in_paths(r"\+", "%20"), UNLIMITED, "PAT-01"),
    Wrong(
        "compares composed characters with decomposed ones",
        both(lambda value: unicodedata.normalize("NFC", value.replace("e%CC%81", "%C3%A9"))),
        UNLIMITED,
        "PAT-04",
    ),
    Wrong(
        "loses characters of four bytes",
        in_paths("[\U00010000-\U0010ffff]", "?"),
        ("google",),
        "PAT-04",
    ),
    Wrong(
        "lowers the case of paths", both(str.lower), ("rfc9309", "google", "google-2010"), "RUL-03"
    ),
]

PATTERNS = [
    Wrong(
        "looks behind a star in as many places as the decoded path has",
        function(
            "pattern_matches",
            lambda right, pattern, path, edition: right(
                pattern, path[: len(unquote(path))] if "*" in pattern else path, edition
            ),
        ),
        statement="PAT-02",
    ),
    Wrong(
        "looks for the end where the decoded path has it",
        function(
            "pattern_matches",
            lambda right, pattern, path, edition: (
                right(pattern, path, edition)
                and not (pattern.endswith("$") and len(unquote(path)) != len(path))
            ),
        ),
        statement="PAT-02",
    ),
    Wrong(
        "escapes a percent sign that begins no escape",
        text(lambda file: re.sub("%(?![0-9A-Fa-f]{2})", "%25", file)),
        ("rfc9309", "google"),
        "PAT-07",
    ),
    Wrong(
        "reads paths as regular expressions",
        by_regex(lambda pattern: pattern.replace("*", ".*")),
        statement="PAT-01",
    ),
    Wrong(
        "lets a star match a single folder",
        by_regex(lambda pattern: re.escape(pattern).replace(r"\*", "[^/]*").replace(r"\$", "$")),
        statement="PAT-02",
    ),
    Wrong(
        "finds a path anywhere in the URL",
        function(
            "pattern_matches",
            lambda right, pattern, path, edition: pattern.replace("*", "") in path,
        ),
        statement="PAT-01",
    ),
    Wrong(
        "reads an empty Disallow as a slash",
        text(lambda file: re.sub(r"(?m)^Disallow:\s*$", "Disallow: /", file)),
        statement="RUL-02",
    ),
]

PRECEDENCE = [
    Wrong(
        "lets the shortest rule decide",
        counted(lambda rule: -len(rule.pattern)),
        statement="PRE-01",
    ),
    Wrong(
        "compares lengths in characters of the decoded file",
        counted(lambda rule: len(rule.value.decode("utf-8", "replace"))),
        statement="PRE-01",
    ),
    Wrong(
        "compares lengths in characters of decoded paths",
        counted(lambda rule: len(unquote(rule.pattern))),
        statement="PRE-01",
    ),
    Wrong(
        "compares lengths of rules as they are written",
        counted(lambda rule: len(rule.value)),
        statement="PRE-01",
    ),
    Wrong(
        "compares lengths in UTF-16",
        counted(lambda rule: len(rule.value.decode("utf-8", "replace").encode("utf-16-le"))),
        statement="PRE-01",
    ),
    Wrong("lets any matching Allow decide", counted(lambda rule: 1), statement="PRE-01"),
]


#: Words, the value of an edition that another specification has, and what it violates.
VALUES: list[tuple[str, str, Any, tuple[str, ...], str]] = [
    ("needs no colon", "missing_colon", True, ("google-2019",), "FMT-11"),
    ("reads fields by their beginnings", "fields_by_prefix", True, ("google-2019",), "FMT-14"),
    ("reads lines whole", "max_line", None, ("google",), "FMT-13"),
    ("cuts lines a byte late", "max_line", 16_664, ("google",), "FMT-13"),
    ("cuts lines a byte early", "max_line", 16_662, ("google",), "FMT-13"),
    ("reads NUL bytes", "nul_ends_line", False, ("google",), "FMT-14"),
    ("needs a blank line between groups", "blank_line_ends_group", True, MODERN, "GRP-03"),
    (
        "compares names with case",
        "case_sensitive_tokens",
        True,
        ("rfc9309", "google", "google-2010"),
        "UAG-02",
    ),
    (
        "follows names that contain a part of its own",
        "agent_match",
        AgentMatch.CONTAINED,
        RFC,
        "UAG-04",
    ),
    (
        "follows equal names only",
        "agent_match",
        AgentMatch.EQUAL,
        ("google-2019", "google-2010"),
        "UAG-04",
    ),
    ("follows the first token only", "combine_tokens", False, ("google",), "UAG-07"),
    ("compares escapes as they stand", "decode_unreserved", False, RFC, "PAT-05"),
    ("decodes escapes", "decode_unreserved", True, ("google",), "PAT-05"),
    ("asks the rules about /robots.txt", "robots_txt_allowed", False, RFC, "PRE-04"),
    ("always allows /robots.txt", "robots_txt_allowed", True, ("google",), "PRE-04"),
    ("knows no wildcards", "wildcards", False, MODERN, "PAT-02"),
    (
        "matches no path that begins with a star",
        "slashless",
        Slashless.NEVER,
        ("rfc9309", "google"),
        "RUL-04",
    ),
    ("opens directories for their index pages", "index_html", True, RFC, "PRE-05"),
    ("knows nothing of index pages", "index_html", False, ("google",), "PRE-05"),
    ("counts a star at the end", "count_trailing_star", True, ("google-2019",), "PRE-01"),
]

ALL = [
    *(*LIMITS, *LINES, *GROUPS, *PATHS, *PATTERNS, *PRECEDENCE),
    *(
        Wrong(words, specifications=specs, statement=statement, fields={field: value})
        for words, field, value, specs, statement in VALUES
    ),
]
VIOLATIONS = [
    pytest.param(wrong, name, id=f"{name}: {wrong.words}")
    for wrong in ALL
    for name in wrong.specifications
]


@pytest.mark.parametrize("specification", MODERN)
def test_without_a_mistake_no_case_fails(specification: str) -> None:
    """A failure of a wrong parser is due to its mistake."""
    edition = Wrong("", specifications=(specification,))
    assert failed(edition, specification) is None


@pytest.mark.parametrize(("wrong", "specification"), VIOLATIONS)
def test_a_wrong_parser_fails_a_required_case(wrong: Wrong, specification: str) -> None:
    """One of the statement that it violates, where the mistake names one."""
    assert failed(wrong, specification) is not None


@pytest.mark.parametrize("specification", MODERN)
def test_the_page_counts_the_wrong_parsers(specification: str) -> None:
    """``wrong_parsers`` of ``specifications.toml`` is the number that violate it."""
    number = sum(specification in wrong.specifications for wrong in ALL)
    assert int(specifications()[specification]["wrong_parsers"]) == number
