"""SAF-02: every finding is returned, and memory is linear in the file."""

from __future__ import annotations

from collections import Counter

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt

ANY = b"User-agent: *\n"
RULE = ANY + b"Disallow: /x/\n"
USE = RULE + b"Content-Usage: "
HURTING = {
    "lines without a colon": b"x\n" * 100_000,
    "rules outside of groups": b"Allow:\n" * 30_000,
    "unknown fields": b"".join(b"%d:\n" % number for number in range(30_000)),
    "odd characters": ANY + "Allow: \u200b\n".encode() * 20_000,
    "labels in one line": USE + b",".join(b"a%d" % number for number in range(30_000)),
    "labels that a longer path hides": USE
    + b",".join(b"a%d=n" % number for number in range(20_000))
    + b"\nContent-Usage: /a/ b=n" * 1000,
    "labels that many paths hide": USE
    + b",".join(b"a%d=n" % number for number in range(9000))
    + b"".join(b"\nContent-Usage: /p%d b=n" % number for number in range(9000)),
    "statements without a path": USE + b"a=n\nContent-Usage: b=y, " * 9000,
    "names": b"".join(
        b"User-agent: %c%d\n" % (97 + number % 26, number) for number in range(20_000)
    ),
    "groups of one crawler": RULE * 8000,
    "crawl delays": ANY + b"".join(b"Crawl-delay: %d\n" % number for number in range(20_000)),
}


@pytest.mark.parametrize("body", HURTING.values(), ids=HURTING)
def test_findings_are_linear_in_the_file(body: bytes) -> None:
    """SAF-02: their number, and the characters of all their texts, which they share."""
    found = RobotsTxt.parse(body).lint()
    assert len(found) <= len(body)
    texts = {id(text): text for finding in found for text in (finding.message, finding.text)}
    assert sum(map(len, texts.values())) <= 13 * len(body)


def test_every_finding_is_returned() -> None:
    """Also of lines for which the reason is the same."""
    body = ANY + b"Disallow: /a\n" * 251 + b"Disallow:/$/\n" * 7
    found = Counter(finding.code for finding in RobotsTxt.parse(body).lint())
    assert (found["RS303"], found["RS903"], found["RS302"]) == (256, 7, 7)


def test_messages_repeat_no_long_text() -> None:
    """SAF-02: a text of half a megabyte does not make a message of its size."""
    for line in (
        b"x" * 400_000 + b": y",
        b"User-agent: google" + b"1" * 400_000,
        b"Allow: //" + b"x" * 400_000,
    ):
        for finding in RobotsTxt.parse(b"User-agent: *\nDisallow: /x\n" + line).lint():
            assert len(finding.message) < 300
