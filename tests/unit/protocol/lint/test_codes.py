"""Each code of the linter: a file that earns it, and a neighbour that does not."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lint.codes import ADVICE, CODES, ERRORS, LISTED
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

MODERN = ("google-2019", "rfc9309", "google-2010")
CLASSIC = ("classic",)
ALL = tuple(EDITIONS)


class Row(NamedTuple):
    """A code with the lines that earn it in one file, and a file that does not."""

    code: str
    ids: str
    bad: bytes
    lines: tuple[int, ...]
    good: bytes
    editions: tuple[str, ...] = ALL


ANY = b"User-agent: *\n"
ONE = b"User-agent: a\n"
LONG = b"#" * 300_000 + b"\n"
TABLE = [
    Row("RS101", "FMT-11", ANY + b"Disallow\nDisallow /a/ b\n", (2, 3), ANY + b"Disallow: /a/\n"),
    Row("RS101", "FMT-06", ANY + b": /a/\n", (2,), ANY + b"# no line\n"),
    Row("RS102", "FMT-10", b"Useragent: *\nDisalow: /\n", (1, 2), ANY + b"Disallow: /\n"),
    Row("RS102", "FMT-10", ANY + b"Alow: /\nSite map: x\n", (2, 3), ANY + b"Crawl-delay: 1\n"),
    Row("RS103", "FMT-14", ANY + b"Noindex: /\n", (2,), ANY + b"Disallow: /\n"),
    Row("RS103", "EXT-03", ANY + b"X: y\n", (2,), ANY + b"Content-Usage: ai=n\n", MODERN),
    Row("RS103", "FMT-15", b"Sitemap: http://a/\nHost: a\n", (1, 2), ANY, CLASSIC),
    Row("RS104", "FMT-04", ANY + b"Disallow: /\xe9/\n", (2,), ANY + b"Disallow: /\xc3\xa9/\n"),
    Row("RS105", "FMT-13", ANY + b"#" + b"a" * 16_663, (2,), ANY + b"#" * 16_663, ("google",)),
    Row("RS106", "FMT-14", ANY + b"Disallow: /\0/\n", (2,), ANY + b"Disallow:\t/\n"),
    Row("RS151", "FMT-12", ANY + LONG + LONG, (0,), ANY + LONG),
    Row("RS152", "FMT-03", b"\xef\xbb\xbf\n<!DOCTYPE html>\n<p>\n", (0,), b"# <html>\n" + ANY),
    Row("RS153", "FMT-01", "\ufeffUser-agent: *".encode("utf-16-le"), (0,), ANY),
    Row("RS201", "GRP-05", b"Disallow: /\nAllow:\n" + ANY, (1, 2), ANY + b"Disallow: /"),
    Row("RS201", "FMT-15", ANY + b"\nAllow: /\n", (3,), ANY + b"#\nAllow: /", CLASSIC),
    Row("RS202", "UAG-03", b"User-agent: 3com\nUser-agent:\n", (1, 2), ONE, MODERN),
    Row("RS202", "UAG-09", b"User-agent: *foo\n", (1,), ANY),
    Row("RS203", "UAG-03", b"User-agent: Foo/1.0\nUser-agent: * x\n", (1, 2), b"User-agent: Foo\n"),
    Row("RS203", "GRP-10", b"User-agent: a, b\n", (1,), b"User-agent: a_b\n", MODERN),
    Row("RS204", "UAG-03", b"User-agent: *a\nDisallow: /\n", (1,), ONE),
    Row("RS205", "GRP-08", b"User-agent: a\nAllow: /\nUser-agent: A\n", (3,), ONE + ONE),
    Row("RS206", "GRP-06", ONE, (1,), b"User-agent: a\nDisallow:\n"),
    Row("RS207", "UAG-10", ONE + ANY, (1,), ANY + b"\nUser-agent: a", CLASSIC),
    Row("RS208", "GRP-03", ONE + b"\n" + ONE + ONE, (3,), ONE + ONE, MODERN),
    Row("RS301", "RUL-04", ANY + b"Disallow: a\nAllow: $\n", (2, 3), ANY + b"Disallow: /a\n"),
    Row("RS302", "PAT-02", ANY + b"Disallow: /a$b\n", (2,), ANY + b"Disallow: /a$\n", MODERN),
    Row("RS303", "PRE-01", ANY + b"Allow: /%c3\n" * 2, (3,), ANY + b"Allow: /a\nAllow: /A\n"),
    Row("RS303", "GRP-08", (ANY + b"Allow: /a\n") * 2, (4,), ANY + b"Allow: /a\nUser-agent: b"),
    Row("RS304", "PRE-02", ANY + b"Disallow: /a\nAllow: /a\n", (3,), ANY + b"Allow: /a\n"),
    Row("RS305", "PAT-03", ANY + b"Disallow: /a*\n", (2,), ANY + b"Disallow: /a*$\n", MODERN),
    Row("RS306", "PAT-02", ANY + b"Allow: /*a\nAllow: /$", (2, 3), ANY + b"Allow: /", CLASSIC),
    Row("RS307", "RUL-02", ANY + b"Disallow:\nAllow: /a\n", (2,), ANY + b"Disallow:\n"),
    Row("RS308", "PAT-07", ANY + b"Disallow: /%4\nAllow: /%", (2, 3), ANY + b"Disallow: /%41\n"),
    Row("RS309", "PAT-12", ANY + b"Disallow: /a /b\n", (2,), ANY + b"Disallow: /a%20 # b\n"),
    Row("RS401", "SIT-03", b"Sitemap: /s.xml\n", (1,), b"Sitemap: http://a/s.xml\n", MODERN),
    Row("RS402", "EXT-01", ANY + b"Crawl-delay: -1\nCrawl-delay: 1e3\nCrawl-delay:\n", (2, 3, 4),
        ANY + b"Crawl-delay: 1.5\nCrawl-delay: 0\nCrawl-delay: .5", MODERN),
    Row("RS901", "EXT-04", ANY + b"Disallow: /a\n", (2,), ANY + b"Disallow: /a/\nAllow: /a.html\n"),
    Row("RS902", "EXT-04", ANY + b"Allow: /a/\n", (2,), ANY + b"Disallow: /a/\n"),
    Row("RS903", "EXT-04", ANY + b"Disallow:/a/\n", (2,), ANY + b"Disallow: /a:b/\n"),
    Row("RS904", "EXT-04", ANY + LONG + LONG, (0,), ANY + LONG),
]  # fmt: skip
ROWS = [pytest.param(row, id=f"{row.code}-{row.ids}-{row.lines[0]}") for row in TABLE]


@pytest.mark.parametrize("row", ROWS)
def test_lines_that_earn_a_code_get_it(row: Row) -> None:
    """The code is found at each of the lines, and nowhere else."""
    for edition in row.editions:
        found = RobotsTxt.parse(row.bad, edition).lint()
        lines = tuple(finding.line for finding in found if finding.code == row.code)
        assert lines == row.lines, (edition, found)


@pytest.mark.parametrize("row", ROWS)
def test_neighbours_do_not_earn_it(row: Row) -> None:
    """A like file without the fault has no finding of the code."""
    for edition in row.editions:
        found = RobotsTxt.parse(row.good, edition).lint()
        assert not [finding for finding in found if finding.code == row.code], edition


@pytest.mark.parametrize("row", ROWS)
def test_findings_are_written_for_a_person(row: Row) -> None:
    """One sentence that says what the edition does, and the line as it stands in the file."""
    for edition in row.editions:
        lines = row.bad.splitlines()
        for finding in RobotsTxt.parse(row.bad, edition).lint():
            assert finding.code in CODES
            if finding.message.startswith("Lines with this finding"):
                continue
            assert finding.message.endswith(".")
            assert finding.message.count(". ") == 0
            assert edition in finding.message
            text = lines[finding.line - 1] if finding.line else b""
            assert finding.text == text.decode("utf-8", "backslashreplace")


def test_every_code_is_earned_somewhere() -> None:
    """No code of the table is without a row here."""
    assert {row.code for row in TABLE} == set(CODES)


def test_severities_are_those_of_codes_of_the_table() -> None:
    """A code that is renamed does not turn into a warning in silence."""
    assert set(CODES) > ERRORS | ADVICE
    assert not ERRORS & ADVICE
    assert {code for code in CODES if code.startswith("RS9")} <= ADVICE


@pytest.mark.parametrize("row", ROWS)
def test_findings_know_their_severity(row: Row) -> None:
    """As the code is, in every edition."""
    for edition in row.editions:
        for finding in RobotsTxt.parse(row.bad, edition).lint():
            assert (finding.severity == "advice") == (finding.code in ADVICE)
            assert (finding.severity == "error") == (finding.code in ERRORS)


@pytest.mark.parametrize("edition", EDITIONS)
def test_clean_file_has_no_findings(edition: str) -> None:
    """A file that follows all advice has nothing said about it."""
    body = b"\n# well\nUser-agent: FooBot\nUser-agent: BarBot\nDisallow: /a/\nDisallow: /b.\n\n"
    assert RobotsTxt.parse(body, edition).lint() == ()


def test_google_reads_what_the_others_ignore() -> None:
    """FMT-10, FMT-11: the same findings, with what each edition makes of them."""
    body = b"User-agent: *\nDisalow: /a/\nDisallow /b/\n"
    for edition in EDITIONS:
        findings = RobotsTxt.parse(body, edition).lint()
        ignored = [f.line for f in findings if f.message.endswith("ignores the line.")]
        assert ignored == ([] if edition == "google" else [2, 3])
        assert [f.line for f in findings if f.code in ("RS101", "RS102")] == [2, 3]


def test_findings_are_bounded() -> None:
    """SAF-02: of one code so many are listed, the rest is counted."""
    found = RobotsTxt.parse(b"User-agent: *\n" + b"Disallow: a\n" * (LISTED + 7)).lint()
    listed = [finding for finding in found if finding.code == "RS301"]
    assert len(listed) == LISTED + 1
    assert (listed[0].line, "listed: 7." in listed[0].message) == (0, True)


def test_findings_stand_in_the_order_of_lines() -> None:
    """The whole file first, then line by line."""
    found = RobotsTxt.parse(b"Disallow: a\n<x>\nUser-agent: *\n").lint()
    lines = [finding.line for finding in found]
    assert lines == sorted(lines)


def test_messages_repeat_no_endless_name() -> None:
    """SAF-02: a field of half a megabyte does not make a message of its size."""
    (finding,) = RobotsTxt.parse(b"x" * 400_000 + b": y\n").lint()
    assert len(finding.message) < 200


@pytest.mark.parametrize(("value", "read"), [("* all", "everyone"), ("Foo/1.0", '"Foo"')])
def test_message_says_which_name_is_read(value: str, read: str) -> None:
    """UAG-03, UAG-09: whoever wrote more than a name is told what is left of it."""
    found = RobotsTxt.parse(f"User-agent: {value}\nDisallow: /a/\n".encode()).lint()
    assert [finding.message.endswith(f"reads {read}.") for finding in found] == [True]
