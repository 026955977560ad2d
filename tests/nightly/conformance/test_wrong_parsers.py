"""A parser with one plausible mistake fails a required case of each specification that it violates.

The mistakes are made in the reference reading: in the file before it is read, in the URL, in one of
its functions, or by a value of another specification. ``fuzz/wrong_parsers.py`` searches others.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.build import specifications
from scrapy_robotspec.editions import EDITIONS, AgentMatch, Slashless
from tests.support.wrong_parsers import (
    MODERN,
    Wrong,
    address,
    both,
    failed,
    first_failure,
    function,
    groups,
    new_parser,
    reads,
    required_cases,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_robotspec.editions import Edition
    from tests.support.reference import PlainGroup, PlainRule

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


def each_line(change: Callable[[str], str]) -> Callable[[Any], None]:
    """A parser that changes each line of the file."""
    return text(lambda file: "\n".join(map(change, re.split("\r\n|\r|\n", file))))


def first_lines(number: int) -> Callable[[Any], None]:
    """A parser that reads the first lines only."""
    return reads(lambda body: b"".join(body.splitlines(keepends=True)[:number]))


def first_bytes(number: int) -> Callable[[Any], None]:
    """A parser that reads the first bytes only."""
    return reads(lambda body: body[:number])


def first_groups(number: int) -> Callable[[Any], None]:
    """A parser that reads the first groups only."""
    return groups(lambda found: found[:number])


def first_rules(number: int) -> Callable[[Any], None]:
    """A parser that keeps the first rules of each group only."""

    def cut(found: list[PlainGroup]) -> list[PlainGroup]:
        return [replace(group, rules=group.rules[:number]) for group in found]

    return groups(cut)


def first_names(number: int) -> Callable[[Any], None]:
    """A parser that keeps the first names of each group only."""

    def cut(found: list[PlainGroup]) -> list[PlainGroup]:
        return [replace(group, agents=group.agents[:number]) for group in found]

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


def names_cut(number: int) -> Callable[[Any], None]:
    """A parser that compares the first characters of names only."""
    return function(
        "name_matches",
        lambda right, name, wanted, edition: right(name[:number], wanted[:number], edition),
    )


def name_rule(rule: Callable[[str, str], bool]) -> Callable[[Any], None]:
    """A parser that compares names in another way."""
    return function("name_matches", lambda right, name, wanted, edition: rule(name, wanted))


def stars_over(number: int, instead: Callable[[str], bool]) -> Callable[[Any], None]:
    """A parser that does something else with patterns of many stars."""

    def matches(right: Any, pattern: str, path: str, edition: Edition) -> bool:
        if pattern.count("*") > number:
            return instead(pattern)
        return bool(right(pattern, path, edition))

    return function("pattern_matches", matches)


def as_pattern(change: Callable[[str], str]) -> Callable[[Any], None]:
    """A parser that changes a pattern before it matches."""
    return function(
        "pattern_matches",
        lambda right, pattern, path, edition: right(change(pattern), path, edition),
    )


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


def first_occurrence(right: Any, pattern: str, path: str, edition: Edition) -> bool:
    """A match that takes the first place of each part, and never another one."""
    end = 0
    for number, part in enumerate(pattern.removesuffix("$").split("*")):
        at = path.find(part, end) if number else (0 if path.startswith(part) else -1)
        if at < 0:
            return False
        end = at + len(part)
    return end == len(path) if pattern.endswith("$") else True


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


def _merged_neighbours(found: list[PlainGroup]) -> list[PlainGroup]:
    """Groups whose rules were never separated: each also gets the rules of the next one."""
    pairs = zip(found, [*found[1:], None], strict=True)
    return [
        replace(group, rules=group.rules + (after.rules if after else [])) for group, after in pairs
    ]


def _lines_of(change: Callable[[bytes], bool]) -> Callable[[Any], None]:
    """A parser that does not see some lines."""

    def kept(right: Any, body: bytes, edition: Edition) -> Iterator[tuple[int, bytes]]:
        return ((number, line) for number, line in right(body, edition) if change(line))

    return function("lines_of", kept)


LIMITS = [
    *(
        Wrong(f"reads the first {number:,} lines", first_lines(number))
        for number in (24, 100, 500, 1_000)
    ),
    *(
        Wrong(f"reads the first {size:,} bytes", first_bytes(size), specs)
        for size, specs in (
            (1_000, MODERN),
            (10_000, MODERN),
            (65_536, (*WITH_LIMIT, "google")),
            (100_000, WITH_LIMIT),
            (262_144, WITH_LIMIT),
            (400_000, WITH_LIMIT),
        )
    ),
    *(
        Wrong(f"reads the first {number:,} rules of a group", first_rules(number))
        for number in (1, 8, 20, 100, 1_000, 2_500)
    ),
    *(
        Wrong(f"reads the first {number:,} groups", first_groups(number))
        for number in (1, 6, 20, 100, 1_000)
    ),
    *(
        Wrong(f"reads the first {number:,} names of a group", first_names(number))
        for number in (1, 6, 20, 100)
    ),
    *(
        Wrong(f"cuts names after {number} characters", names_cut(number))
        for number in (3, 8, 16, 32, 64, 128)
    ),
    *(
        Wrong(f"cuts rules after {number:,} characters", rules_cut(number))
        for number in (8, 64, 100, 128, 255, 256, 1_000, 1_024)
    ),
    Wrong("cuts rules after 4,096 characters", rules_cut(4_096)),
    *(
        Wrong(f"cuts URLs after {number:,} characters", url_cut(number))
        for number in (32, 64, 100, 128, 255, 256, 1_000, 1_024, 2_000, 2_048)
    ),
    Wrong("cuts URLs after 4,096 characters", url_cut(4_096)),
    Wrong(
        "reads 10,000 bytes of a line",
        reads(lambda body: re.sub(rb"(?<=.{10000}).+", b"", body)),
        ("rfc9309", "google"),
        "FMT-13",
    ),
    Wrong("reads 1,000 bytes of a line", reads(lambda body: re.sub(rb"(?<=.{1000}).+", b"", body))),
    Wrong("drops lines over 500 bytes", _lines_of(lambda line: len(line) <= 500)),
    Wrong("drops patterns of three stars", stars_over(2, lambda pattern: False)),
    Wrong("drops patterns of ten stars", stars_over(9, lambda pattern: False)),
    Wrong("lets patterns of twenty stars match all", stars_over(19, lambda pattern: True)),
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
    Wrong("ends lines with CR LF only", text(lambda file: file.replace("\n", "\v"))),
    Wrong(
        "joins a line with the one after a backslash",
        text(lambda file: file.replace("\\\n", "")),
        UNLIMITED,
        "FMT-02",
    ),
    Wrong(
        "needs a line end after the last line", reads(lambda body: body[: body.rfind(b"\n") + 1])
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
    Wrong("knows no tabs", text(lambda file: file.replace("\t", "\v")), UNLIMITED),
    Wrong(
        "allows no space before the colon",
        _lines_of(lambda line: not re.match(rb"\s*[\w-]+\s+:", line)),
    ),
    Wrong(
        "allows no space before the field",
        _lines_of(lambda line: line[:1] not in b" \t" or not line),
    ),
    Wrong(
        "needs a space after the colon",
        each_line(lambda line: re.sub(r"^(\w[\w-]*):(?=\S)", r"\1 ", line)),
        UNLIMITED,
    ),
    Wrong("splits a line at its last colon", each_line(lambda line: _last_colon(line))),
    Wrong(
        "ends a value at its second colon",
        each_line(lambda line: ":".join(line.split(":")[:2]) if line.count(":") > 1 else line),
    ),
    Wrong(
        "starts comments after a space only",
        text(lambda file: re.sub(r"(?<=\S)#", "%23", file)),
        statement="FMT-07",
    ),
    Wrong("knows comment lines only", text(lambda file: re.sub(r"(?<=.)#", "%23", file))),
    Wrong("knows no comments", text(lambda file: file.replace("#", "%23"))),
    Wrong("drops lines with a comment", _lines_of(lambda line: b"#" not in line)),
    Wrong("drops everything after the first comment", reads(lambda body: body.partition(b"#")[0])),
    Wrong(
        "removes a byte order mark from each line",
        text(lambda file: file.replace("\ufeff", "")),
        ("google-2019",),
        "FMT-05",
    ),
    Wrong(
        "knows no byte order mark",
        reads(lambda body: b"?" + body if body.startswith(b"\xef\xbb\xbf") else body),
        ("google", "google-2019", "google-2010"),
    ),
    Wrong(
        "compares fields with case",
        _lines_of(
            lambda line: (
                not re.match(rb"\s*(user-agent|(dis)?allow)", line, re.I)
                or bool(re.match(rb"\s*(User-agent|Disallow|Allow)", line))
            )
        ),
        COMBINING,
    ),
    Wrong(
        "needs no colon",
        fields={"missing_colon": True},
        specifications=("google-2019",),
        statement="FMT-11",
    ),
    Wrong(
        "reads fields by their beginnings",
        fields={"fields_by_prefix": True},
        specifications=("google-2019",),
        statement="FMT-14",
    ),
    Wrong(
        "reads lines whole",
        fields={"max_line": None},
        specifications=("google",),
        statement="FMT-13",
    ),
    Wrong(
        "cuts lines a byte late",
        fields={"max_line": 16_664},
        specifications=("google",),
        statement="FMT-13",
    ),
    Wrong(
        "cuts lines a byte early",
        fields={"max_line": 16_662},
        specifications=("google",),
        statement="FMT-13",
    ),
    Wrong(
        "reads NUL bytes",
        fields={"nul_ends_line": False},
        specifications=("google",),
        statement="FMT-14",
    ),
]


def _last_colon(line: str) -> str:
    """A line whose other colons belong to the field, which nobody knows then."""
    field, colon, value = line.partition("#")[0].rpartition(":")
    return f"{field.replace(':', '?')}{colon}{value}"


GROUPS = [
    Wrong(
        "needs a blank line between groups",
        fields={"blank_line_ends_group": True},
        specifications=MODERN,
        statement="GRP-03",
    ),
    Wrong(
        "ends a group at a Crawl-delay line",
        text(lambda file: file.replace("Crawl-delay:", "Disallow: ?")),
        COMBINING,
        "GRP-04",
    ),
    Wrong(
        "ends a group at a Sitemap line",
        text(lambda file: re.sub("(?mi)^sitemap:", "User-agent: nobody\nSitemap:", file)),
        COMBINING,
    ),
    Wrong(
        "ends a group at a comment line",
        text(lambda file: re.sub(r"(?m)^\s*#", "User-agent: nobody\n#", file)),
        COMBINING,
    ),
    Wrong("never ends a group", groups(_merged_neighbours)),
    Wrong(
        "follows the first of its groups only",
        chosen(lambda found, own: _named(found, own)[:1]),
        COMBINING,
        "GRP-08",
    ),
    Wrong(
        "follows the last of its groups only",
        chosen(lambda found, own: _named(found, own)[-1:]),
        COMBINING,
    ),
    Wrong(
        "follows the default group too",
        chosen(lambda found, own: [each for each in found if {"*", *own} & {*each.agents}]),
        statement="UAG-01",
    ),
    Wrong(
        "follows the default group where that comes first",
        chosen(lambda found, own: [each for each in found if {"*", *own} & {*each.agents}][:1]),
    ),
    Wrong(
        "knows the default group only",
        chosen(lambda found, own: [each for each in found if "*" in each.agents]),
    ),
    Wrong(
        "knows no default group",
        chosen(lambda found, own: [each for each in found if own & {*each.agents}]),
    ),
    Wrong(
        "follows the default group where its own has no rules that disallow",
        chosen(
            lambda found, own: (
                [each for each in _named(found, own) if any(rule.value for rule in each.rules)]
                or [each for each in found if "*" in each.agents]
            )
        ),
    ),
    Wrong(
        "knows the last name of a group only",
        groups(lambda found: [replace(each, agents=each.agents[-1:]) for each in found]),
    ),
    Wrong(
        "takes a group with a star for the default group alone",
        groups(
            lambda found: [
                replace(each, agents=["*"]) if "*" in each.agents else each for each in found
            ]
        ),
    ),
    Wrong(
        "lets rules before the first name apply to all",
        text(lambda file: f"User-agent: *\n{file}"),
        RFC,
    ),
    Wrong(
        "compares names with case",
        fields={"case_sensitive_tokens": True},
        specifications=("rfc9309", "google", "google-2010"),
        statement="UAG-02",
    ),
    Wrong(
        "follows names that contain a part of its own",
        fields={"agent_match": AgentMatch.CONTAINED},
        specifications=RFC,
        statement="UAG-04",
    ),
    Wrong(
        "follows equal names only",
        fields={"agent_match": AgentMatch.EQUAL},
        specifications=("google-2019", "google-2010"),
        statement="UAG-04",
    ),
    Wrong(
        "follows names that its own begins with", name_rule(lambda name, own: own.startswith(name))
    ),
    Wrong(
        "follows names that begin with its own", name_rule(lambda name, own: name.startswith(own))
    ),
    Wrong("follows names that contain its own", name_rule(lambda name, own: own in name)),
    Wrong("follows names that end alike", name_rule(lambda name, own: own.endswith(name))),
    Wrong(
        "ends names at an underscore",
        name_rule(lambda name, own: name.partition("_")[0] == own.partition("_")[0]),
    ),
    Wrong(
        "follows the first token only",
        fields={"combine_tokens": False},
        specifications=("google",),
        statement="UAG-07",
    ),
]

PATHS = [
    Wrong("drops the query", address(lambda url: url.partition("?")[0]), statement="PAT-01"),
    Wrong(
        "ends the query at a second question mark",
        address(lambda url: "?".join(url.split("?")[:2])),
    ),
    Wrong(
        "keeps the fragment",
        address(lambda url: url.replace("#", "%23")),
        ("google", "google-2010"),
    ),
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
    Wrong("drops a slash at the end", in_paths(r"(?<=.)/(?=$)", "")),
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
    Wrong("loses characters beyond ASCII", in_paths("[^\x00-\x7f]", "")),
    Wrong(
        "lowers the case of paths", both(str.lower), ("rfc9309", "google", "google-2010"), "RUL-03"
    ),
    Wrong("decodes %2F to a slash", in_paths("%2[Ff]", "/"), ("google",)),
    Wrong(
        "compares hex digits with case",
        function("canonical", lambda right, data, edition: data.decode("utf-8", "surrogateescape")),
        UNLIMITED,
    ),
    Wrong(
        "compares escapes as they stand",
        fields={"decode_unreserved": False},
        specifications=RFC,
        statement="PAT-05",
    ),
    Wrong(
        "decodes escapes",
        fields={"decode_unreserved": True},
        specifications=("google",),
        statement="PAT-05",
    ),
    Wrong(
        "asks the rules about /robots.txt",
        fields={"robots_txt_allowed": False},
        specifications=RFC,
        statement="PRE-04",
    ),
    Wrong(
        "always allows /robots.txt",
        fields={"robots_txt_allowed": True},
        specifications=("google",),
        statement="PRE-04",
    ),
]

PATTERNS = [
    Wrong("knows no wildcards", fields={"wildcards": False}, statement="PAT-02"),
    Wrong("knows no star", as_pattern(lambda pattern: pattern.replace("*", "\ue001"))),
    Wrong("knows no end of the URL", as_pattern(lambda pattern: re.sub(r"\$$", "\ue002", pattern))),
    Wrong("ignores a $ at the end", as_pattern(lambda pattern: pattern.removesuffix("$"))),
    Wrong(
        "reads a path as a whole one", as_pattern(lambda pattern: f"{pattern.removesuffix('$')}$")
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
        "lets a star match no query",
        by_regex(lambda pattern: re.escape(pattern).replace(r"\*", "[^?]*").replace(r"\$", r"\Z")),
    ),
    Wrong(
        "lets a star match at least one character",
        by_regex(lambda pattern: re.escape(pattern).replace(r"\*", ".+").replace(r"\$", r"\Z")),
    ),
    Wrong(
        "lets a star match one character",
        by_regex(lambda pattern: re.escape(pattern).replace(r"\*", ".").replace(r"\$", r"\Z")),
    ),
    Wrong("takes the first place of each part", function("pattern_matches", first_occurrence)),
    Wrong(
        "knows the first star only",
        as_pattern(
            lambda pattern: re.sub(
                r"(?<=\*)(.*)", lambda m: m[1].replace("*", "\ue001"), pattern, count=1
            )
        ),
    ),
    Wrong(
        "finds the parts of a pattern in any order",
        function(
            "pattern_matches",
            lambda right, pattern, path, edition: (
                path.startswith(pattern.partition("*")[0].removesuffix("$"))
                and all(part in path for part in pattern.removesuffix("$").split("*"))
            ),
        ),
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
        "ends a path at a slash of the URL",
        function(
            "pattern_matches",
            lambda right, pattern, path, edition: (
                right(f"{pattern}$", path, edition)
                or right(f"{pattern.rstrip('/')}/", path, edition)
            ),
        ),
    ),
    Wrong(
        "matches no path that begins with a star",
        fields={"slashless": Slashless.NEVER},
        specifications=("rfc9309", "google"),
        statement="RUL-04",
    ),
    Wrong(
        "reads an empty Disallow as a slash",
        text(lambda file: re.sub(r"(?m)^Disallow:\s*$", "Disallow: /", file)),
        statement="RUL-02",
    ),
    Wrong(
        "opens directories for their index pages",
        fields={"index_html": True},
        specifications=RFC,
        statement="PRE-05",
    ),
    Wrong(
        "knows nothing of index pages",
        fields={"index_html": False},
        specifications=("google",),
        statement="PRE-05",
    ),
]

PRECEDENCE = [
    Wrong(
        "lets the first matching rule decide",
        function("weigh", lambda right, rules, path, edition: _first(right, rules, path, edition)),
    ),
    Wrong(
        "lets the last matching rule decide",
        function(
            "weigh", lambda right, rules, path, edition: _first(right, rules[::-1], path, edition)
        ),
    ),
    Wrong(
        "lets the shortest rule decide",
        counted(lambda rule: -len(rule.pattern)),
        statement="PRE-01",
    ),
    Wrong("lets any matching Allow decide", counted(lambda rule: 1), statement="PRE-01"),
    Wrong("lets any matching Disallow decide", counted(lambda rule: 0 if rule.allow else 1)),
    Wrong(
        "lets Disallow decide between equal ones",
        counted(lambda rule: 2 * len(rule.pattern) + (not rule.allow)),
        COMBINING,
    ),
    Wrong("counts characters", counted(lambda rule: len(rule.value.decode("utf-8", "replace")))),
    Wrong(
        "counts a character beyond ASCII once, as an escape too",
        counted(lambda rule: len(re.sub("(%[89A-F].)+", "?", rule.pattern))),
    ),
    Wrong("counts parts of a path", counted(lambda rule: rule.pattern.count("/"))),
    Wrong(
        "counts up to the first star",
        counted(lambda rule: len(rule.pattern.partition("*")[0])),
        ("google",),
    ),
    Wrong(
        "lets rules without stars decide first",
        counted(lambda rule: len(rule.pattern) - 10_000 * ("*" in rule.pattern)),
        ("google",),
    ),
    Wrong("knows no Allow lines", text(lambda file: re.sub("(?mi)^allow", "X-allow", file))),
    Wrong(
        "counts a star at the end",
        fields={"count_trailing_star": True},
        specifications=("google-2019",),
        statement="PRE-01",
    ),
]


def _first(right: Any, rules: list[PlainRule], path: str, edition: Edition) -> Any:
    """The verdict of the first rule that matches."""
    for rule in rules:
        verdict = right([rule], path, edition)
        if verdict.line:
            return verdict
    return right([], path, edition)


ALL = [*LIMITS, *LINES, *GROUPS, *PATHS, *PATTERNS, *PRECEDENCE]
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


def test_a_parser_with_many_limits_fails_in_each_of_them() -> None:
    """24 lines, 8 rules and 6 names a group, 6 groups, short names, rules and URLs, two stars."""
    parser = new_parser()
    for change in (
        *(first_lines(24), first_rules(8), first_names(6), names_cut(16), rules_cut(100)),
        *(url_cut(100), stars_over(2, lambda pattern: False)),
        groups(lambda found: found[:6]),
        counted(lambda rule: len(rule.value.decode("utf-8", "replace"))),
    ):
        change(parser)
    cases = required_cases("rfc9309")
    edition = EDITIONS["rfc9309"]
    failures = [case for case in cases if first_failure(parser, [case], edition) is not None]
    assert {case.data["statement"] for case in failures} >= {
        *("FMT-12", "GRP-01", "GRP-02", "GRP-07", "GRP-08", "PAT-01", "PAT-02", "PRE-01", "UAG-04"),
    }
