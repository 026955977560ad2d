"""What a file as a whole has: no findings, one, or those of its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol import lines
from scrapy_robotspec.protocol.lines import split_line
from scrapy_robotspec.protocol.lint import line_checks
from scrapy_robotspec.protocol.lint.line_checks import check_form
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Fault


@pytest.mark.parametrize("edition", EDITIONS)
def test_clean_file_has_no_findings(edition: str) -> None:
    """A file that follows all advice."""
    body = (
        b"\n# well\nUser-agent: FooBot\nUser-agent: BarBot\nDisallow: /a/\nDisallow: /b.\n"
        b"Content-Usage: train-ai=n\n\nLicense: https://example.com/license.xml\n"
    )
    assert RobotsTxt.parse(body, edition).lint() == ()


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>User-agent: *\nDisallow: /\n<p>Allow\n</html>",
        b"\x1f\x8b\x08" + bytes(range(256)) * 9,
        b'{"a": [\n1,\n2\n]}',
        b"Sorry, no such page.\nTry the start page.\n",
        b"a,b\n" * 200_000,
    ],
    ids=["html", "binary", "json", "text", "too long"],
)
def test_file_of_another_kind_has_one_finding(body: bytes, edition: str) -> None:
    """Its lines are not reported one by one."""
    (finding,) = RobotsTxt.parse(body, edition).lint()
    assert (finding.line, finding.severity) == (0, "error")


def test_page_with_rules_is_a_file() -> None:
    """FET-06, FET-20: its lines are reported one by one, as crawlers read them."""
    found = RobotsTxt.parse(b"<html>\nUser-agent: *\nDisallow: none\n</html>").lint()
    assert ("RS311", 3) in {(finding.code, finding.line) for finding in found}
    assert "RS152" not in {finding.code for finding in found}


def test_google_reads_lines_that_the_others_ignore() -> None:
    """FMT-10, FMT-11: the same findings, with what each edition makes of them."""
    body = b"User-agent: *\nDisalow: /a/\nDisallow /b/\n"
    for edition in EDITIONS:
        findings = RobotsTxt.parse(body, edition).lint()
        ignored = [f.line for f in findings if f.message.endswith("ignores the line.")]
        assert ignored == ([] if edition == "google" else [2, 3])
        assert [f.line for f in findings if f.code in ("RS101", "RS102")] == [2, 3]


def test_a_mark_is_one_of_the_file_on_its_first_line_alone() -> None:
    """FMT-05: though equal lines are looked at once."""
    line = b"\xef\xbb\xbf" * 2 + b"User-agent: *\n"
    found = RobotsTxt.parse(line + line[3:] + b"Disallow: /x\n").lint()
    assert [each.line for each in found if each.code == "RS108"] == [1]


def test_the_form_of_equal_lines_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file at the parsing limit may repeat an invalid line 256,000 times.

    The first line may begin with a byte order mark.
    """
    looked_at: list[bytes] = []

    def counted(line: Line, edition: Edition) -> Iterator[Fault]:
        looked_at.append(line.text)
        return check_form(line, edition)

    monkeypatch.setattr(line_checks, "check_form", counted)
    body = b"User-agent: *\nDisallow: /x\n" + b":\n1:\n" * 1000
    found = RobotsTxt.parse(body).lint()
    assert len(found) == 2000
    assert looked_at == [b":", b"1:"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_line_is_read_once(edition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked about its groups."""
    read: list[bytes] = []

    def counted(text: bytes, edition: Edition) -> tuple[bytes, bytes] | None:
        read.append(text)
        return split_line(text, edition)

    monkeypatch.setattr(lines, "split_line", counted)
    body = b"User-agent: *\nDisallow: /a\nAllow: /b\n\nUser-agent: a\nDisallow: /b\nDisallow: /c\n"
    assert RobotsTxt.parse(body, edition).lint()
    assert read == body.splitlines()
