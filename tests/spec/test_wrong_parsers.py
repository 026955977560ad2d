"""A parser with one usual mistake fails a required case of the statement that it violates.

The mistakes are made in the reference matcher: before it reads, or in one of its functions.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases import cases_of
from scrapy_robotspec.editions import EDITIONS, AgentMatch, Slashless
from tests.support import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases import Case

    #: Changes the body and the URL before the reference matcher reads them.
    Change = Callable[[bytes, str], tuple[bytes, str]]

#: Required cases; without generated ones, since the reference matcher needs URLs with a scheme.
CASES = {
    specification: [
        case
        for case in cases_of(specification)
        if case.required and case.question == "allowed" and case.data["statement"] != "REF"
    ]
    for specification in ("rfc9309", "google-2019", "google")
}


def text(change: Callable[[str], str]) -> Change:
    """The mistake of a parser that decodes the file and changes its text."""

    def changed(body: bytes, url: str) -> tuple[bytes, str]:
        return change(body.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        ), url

    return changed


def address(pattern: str, by: str) -> Change:
    """The mistake of a parser that replaces a part of the URL."""
    return lambda body, url: (body, re.sub(pattern, by, url))


def both(change: Callable[[str], str]) -> Change:
    """The mistake of a parser that changes the text of the file and the URL alike."""
    return lambda body, url: (text(change)(body, url)[0], change(url))


def in_paths(pattern: str, by: str) -> Change:
    """The mistake of a parser that changes each path of the file and the path of the URL."""

    def changed(line: str) -> str:
        field, colon, value = line.partition(":")
        return field + colon + re.sub(pattern, by, value)

    def change(body: bytes, url: str) -> tuple[bytes, str]:
        lines = text(lambda file: "\n".join(map(changed, re.split("\r\n|\r|\n", file))))
        scheme, slashes, rest = url.partition("://")
        return lines(body, url)[0], scheme + slashes + re.sub(pattern, by, rest)

    return change


#: The mistake, a specification and the statement that it violates.
CHANGES: dict[str, tuple[Change, str, str]] = {
    "splits lines as str.splitlines does": (
        text(lambda file: "\n".join(file.splitlines())),
        "rfc9309",
        "FMT-02",
    ),
    "ends lines with LF only": (text(lambda file: file.replace("\r", "\v")), "rfc9309", "FMT-02"),
    "joins a line with the one after a backslash": (
        text(lambda file: file.replace("\\\n", "")),
        "rfc9309",
        "FMT-02",
    ),
    "gives up at the first invalid line": (
        text(lambda file: "" if "<html>" in file else file),
        "rfc9309",
        "FMT-03",
    ),
    "gives up at a byte that is not UTF-8": (
        lambda body, url: (body if body.decode("utf-8", "ignore").encode() == body else b"", url),
        "rfc9309",
        "FMT-04",
    ),
    "reads the file as Latin-1": (
        lambda body, url: (body.decode("latin-1").encode(), url),
        "rfc9309",
        "FMT-01",
    ),
    "strips no-break spaces": (
        text(lambda file: file.replace("\u00a0", " ")),
        "rfc9309",
        "FMT-06",
    ),
    "starts comments after a blank only": (
        text(lambda file: re.sub(r"(?<=\S)#", "%23", file)),
        "rfc9309",
        "FMT-07",
    ),
    "reads 100,000 bytes": (lambda body, url: (body[:100_000], url), "rfc9309", "FMT-12"),
    "reads 10,000 bytes of a line": (
        lambda body, url: (re.sub(rb"(?<=.{10000}).+", b"", body), url),
        "rfc9309",
        "FMT-13",
    ),
    "removes a byte order mark from each line": (
        text(lambda file: file.replace("\ufeff", "")),
        "google-2019",
        "FMT-05",
    ),
    "drops the query": (address(r"\?.*", ""), "rfc9309", "PAT-01"),
    "drops the parameters after a semicolon": (address(r";.*", ""), "rfc9309", "PAT-01"),
    "compares from the last two slashes on": (address(r".*//[^/]*", "x://h"), "rfc9309", "PAT-01"),
    "folds slashes": (in_paths("//+", "/"), "rfc9309", "PAT-01"),
    "reads a plus sign as a blank": (in_paths(r"\+", "%20"), "rfc9309", "PAT-01"),
    "compares composed characters with decomposed ones": (
        both(lambda value: unicodedata.normalize("NFC", value.replace("e%CC%81", "%C3%A9"))),
        "rfc9309",
        "PAT-04",
    ),
    "loses characters of four bytes": (
        in_paths("[\U00010000-\U0010ffff]", "?"),
        "google",
        "PAT-04",
    ),
    "lowers the case of paths": (both(str.lower), "rfc9309", "RUL-03"),
    "reads an empty Disallow as a slash": (
        text(lambda file: re.sub(r"(?m)^Disallow:\s*$", "Disallow: /", file)),
        "rfc9309",
        "RUL-02",
    ),
    "ends a group at a Crawl-delay line": (
        text(lambda file: file.replace("Crawl-delay:", "Disallow: ?")),
        "rfc9309",
        "GRP-04",
    ),
}

#: The mistake: a field of the edition and its wrong value, a specification and the statement.
FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "needs a blank line between groups": ({"blank_line_ends_group": True}, "rfc9309", "GRP-03"),
    "reads fields by their beginnings": ({"fields_by_prefix": True}, "google-2019", "FMT-14"),
    "needs no colon": ({"missing_colon": True}, "google-2019", "FMT-11"),
    "reads lines whole": ({"max_line": None}, "google", "FMT-13"),
    "cuts lines a byte late": ({"max_line": 16_664}, "google", "FMT-13"),
    "cuts lines a byte early": ({"max_line": 16_662}, "google", "FMT-13"),
    "reads NUL bytes": ({"nul_ends_line": False}, "google", "FMT-14"),
    "compares names with case": ({"case_sensitive_tokens": True}, "rfc9309", "UAG-02"),
    "follows names that contain a part of its own": (
        {"agent_match": AgentMatch.CONTAINED},
        "rfc9309",
        "UAG-04",
    ),
    "follows equal names only": ({"agent_match": AgentMatch.EQUAL}, "google-2019", "UAG-04"),
    "follows the first token only": ({"combine_tokens": False}, "google", "UAG-07"),
    "knows no wildcards": ({"wildcards": False}, "rfc9309", "PAT-02"),
    "matches no path that begins with a star": (
        {"slashless": Slashless.NEVER},
        "rfc9309",
        "RUL-04",
    ),
    "counts a star at the end": ({"count_trailing_star": True}, "google-2019", "PRE-01"),
    "compares escapes as they stand": ({"decode_unreserved": False}, "rfc9309", "PAT-05"),
    "decodes escapes": ({"decode_unreserved": True}, "google", "PAT-05"),
    "knows nothing of index pages": ({"index_html": False}, "google", "PRE-05"),
    "opens directories for their index pages": ({"index_html": True}, "rfc9309", "PRE-05"),
    "asks the rules about /robots.txt": ({"robots_txt_allowed": False}, "rfc9309", "PRE-04"),
    "always allows /robots.txt": ({"robots_txt_allowed": True}, "google", "PRE-04"),
}


def violates(
    specification: str,
    statement: str,
    change: Change = lambda body, url: (body, url),
    fields: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Whether a required case of the statement fails."""
    edition = replace(EDITIONS[specification], **fields)

    def fails(case: Case) -> bool:
        body, url = change(case.body, case.url or "")
        return reference.rule_on(body, url, case.tokens, edition).allowed is not case.expected

    cases = [case for case in CASES[specification] if case.data["statement"] == statement]
    return any(map(fails, cases))


@pytest.mark.parametrize("specification", CASES)
def test_without_a_mistake_no_case_fails(specification: str) -> None:
    """What fails below fails by the mistake."""
    statements = {case.data["statement"] for case in CASES[specification]}
    assert not [each for each in statements if violates(specification, each)]


@pytest.mark.parametrize("mistake", CHANGES)
def test_a_mistake_in_reading_fails_a_case_of_its_statement(mistake: str) -> None:
    """Of files, of paths and of URLs."""
    change, specification, statement = CHANGES[mistake]
    assert violates(specification, statement, change)


@pytest.mark.parametrize("mistake", FIELDS)
def test_a_rule_of_another_specification_fails_a_case_of_its_statement(mistake: str) -> None:
    """The specifications contradict each other, and the cases show where."""
    fields, specification, statement = FIELDS[mistake]
    assert violates(specification, statement, fields=fields)


#: The mistake: a function of the reference matcher, what replaces it, and the statement.
FUNCTIONS: dict[str, tuple[str, Callable[..., object], str]] = {
    "lets the first matching rule decide": (
        "counted_length",
        lambda pattern, edition: 1,
        "PRE-01",
    ),
    "lets the shortest rule decide": (
        "counted_length",
        lambda pattern, edition: -len(pattern),
        "PRE-01",
    ),
    "reads paths as regular expressions": (
        "pattern_matches",
        lambda pattern, path, edition: bool(re.match(pattern.replace("*", ".*"), path)),
        "PAT-01",
    ),
    "lets a star match a single folder": (
        "pattern_matches",
        lambda pattern, path, edition: bool(
            re.match(re.escape(pattern).replace(r"\*", "[^/]*").replace(r"\$", "$"), path)
        ),
        "PAT-02",
    ),
    "finds a path anywhere in the URL": (
        "pattern_matches",
        lambda pattern, path, edition: pattern.replace("*", "") in path,
        "PAT-01",
    ),
    "follows the default group too": (
        "rules_followed",
        lambda groups, tokens, edition: [
            rule
            for group in groups
            if {"*", *(token.lower() for token in tokens)} & {*group.agents}
            for rule in group.rules
        ],
        "UAG-01",
    ),
    "follows the first of its groups only": (
        "rules_followed",
        lambda groups, tokens, edition: next(
            (
                group.rules
                for name in (*(token.lower() for token in tokens), "*")
                for group in groups
                if name in group.agents
            ),
            [],
        ),
        "GRP-08",
    ),
}


@pytest.mark.parametrize("mistake", FUNCTIONS)
def test_a_mistake_in_matching_fails_a_case_of_its_statement(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the choice of the groups, in patterns, and in precedence."""
    name, wrong, statement = FUNCTIONS[mistake]
    monkeypatch.setattr(reference, name, wrong)
    assert violates("rfc9309", statement)
