"""A proposal of the linter never changes a verdict, in any edition.

A proposal is :attr:`Finding.replacement`: delete the line, or write another one. The files are
made so that groups, blank lines, duplicates and lines that editions read differently meet.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.cli import lint as commands
from scrapy_robotspec.cli.lint import fixed, follow
from scrapy_robotspec.editions import EDITIONS, PLAIN_FIELDS, Edition
from scrapy_robotspec.protocol.lint.findings import CODES
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.property.strategies import bodies_for

TOKENS = [("a",), ("b",), ("a-b",), ("c",), ("a", "b")]
URLS = [f"http://example.com{path}" for path in ("/", "/x", "/x/y", "/xy", "/%78", "/z?x", "/*")]

lines = st.sampled_from(
    [
        *["User-agent: a", "User-agent: b", "User-agent: *", "User-agent: a-b", "user-agent:A"],
        *["Disallow: /x", "Disallow: /x", "Disallow: /", "Allow: /x", "Allow:/x/", "Disallow:"],
        *["disallow:/x", "Allow: /", "Allow:", "Disallow: /%78", "Disallow: *", "Disallow: x"],
        *["", "", " ", "# comment", "Crawl-delay: 5", "Sitemap:http://example.com/s"],
    ]
)
#: Lines that some editions read and others do not.
odd_lines = st.sampled_from(
    [
        "Useragent: b",
        "Disalow: /x",
        "Disallow /x",
        "User-agent: a b",
        "Disallow: /x\0",
        "\v",
        "allowed: /",
    ]
)
files = st.one_of(
    st.lists(lines, max_size=12).map("\n".join),
    st.lists(st.one_of(lines, lines, lines, odd_lines), max_size=12).map("\n".join),
).map(str.encode)


#: An edition of one's own that reads less of a line than all presets do.
SHORT_LINES = replace(EDITIONS["google-2019"], name="short", max_line=12)
of_every_edition = pytest.mark.parametrize(
    "edition", [*EDITIONS.values(), SHORT_LINES], ids=lambda each: each.name
)


def verdicts(body: bytes, edition: Edition) -> list[object]:
    """What the presets and an edition say: every URL for every crawler, and the crawl delays."""
    read = [RobotsTxt.parse(body, each) for each in (*EDITIONS.values(), edition)]
    return [
        (robots.edition.name, tokens, robots.sitemaps, robots.crawl_delay(tokens), url, allowed)
        for robots in read
        for tokens in TOKENS
        for url in URLS
        for allowed in [robots.allowed(url, tokens)]
    ]


@of_every_edition
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(body=st.one_of(files, files, bodies_for(["x", "/", "a"])))
@example(
    b"User-agent: a\nDisallow: /x\n\nUser-agent: a\nDisallow: /x\n\nUser-agent: b\nDisallow: /"
)
@example(b"User-agent: a\nDisallow:\nAllow:\nUser-agent: b\nDisallow: /")
@example(b"User-agent: a\nDisallow: /x\nUseragent: b\nDisallow: /x\nUser-agent: c\nDisallow: /")
@example(b"User-agent: *\n\nDisallow: /x\nUser-agent: *\nDisallow: /x\nDisallow: /z\n")
@example(
    b"User-agent: a\nUser-agent: b\nDisallow: /x\nDisallow: /z\n"
    b"User-agent: a\n\nUser-agent: b\nDisallow: /x\n\nDisallow: /z"
)
@example(b"User-agent: a\nAllow: /\n\nDisallow: /\n")  # of no group, in one edition
@example(b"User-agent: a\nDisallow:/x\nDisallow: /x\n")  # one byte more
def test_following_the_proposals_changes_no_verdict(edition: Edition, body: bytes) -> None:
    """Each of them alone, those of one code, and all of them."""
    findings = [f for f in RobotsTxt.parse(body, edition).lint() if f.replacement is not None]
    before = verdicts(body, edition)
    for finding in findings:
        assert verdicts(follow(body, [finding]), edition) == before, finding
    for code in {finding.code for finding in findings}:
        assert verdicts(follow(body, [f for f in findings if f.code == code]), edition) == before, (
            code
        )
    assert verdicts(follow(body, findings), edition) == before


@pytest.mark.parametrize(
    ("change", "body"),
    [
        (
            {"known_fields": (*PLAIN_FIELDS, (b"deny", "disallow"))},
            b"User-agent: a\nDeny: /x\nDisallow:\nUser-agent: b\nDisallow: /\n",
        ),
        ({"whitespace": b""}, b"User-agent:a\nDisallow:/x\n"),
        ({"whitespace": b"\t"}, b"User-agent:a\nDisallow:/x\n"),
    ],
)
def test_an_edition_of_ones_own_may_read_lines_otherwise(
    change: dict[str, Any], body: bytes
) -> None:
    """FMT-06, FMT-10: all presets and that edition give the same verdicts."""
    edition = replace(EDITIONS["google-2019"], name="mine", **change)
    found = RobotsTxt.parse(body, edition).lint()
    assert verdicts(follow(body, found), edition) == verdicts(body, edition)


@of_every_edition
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(body=st.one_of(files, files, bodies_for(["x", "/", "a"])))
def test_following_the_proposals_twice_changes_nothing_more(edition: Edition, body: bytes) -> None:
    """Those of one code, and all of them."""
    for codes in (CODES.keys(), {"RS303"}, {"RS307"}, {"RS902", "RS903"}):
        once = fixed(body, edition, codes)
        found = RobotsTxt.parse(once, edition).lint()
        assert follow(once, [each for each in found if each.code in codes]) == once, codes
        assert verdicts(once, edition) == verdicts(body, edition), codes


def test_no_proposal_in_a_file_that_is_cut() -> None:
    """A shorter file would let a later rule in."""
    body = b"User-agent: *\nDisallow:/x\nDisallow:/x\n" + b"#\n" * 300_000 + b"Disallow: /\n"
    findings = RobotsTxt.parse(body).lint()
    assert {f.code for f in findings} >= {"RS151", "RS903"}
    assert [f.replacement for f in findings if f.replacement is not None] == []


@pytest.mark.parametrize("edition", [EDITIONS["google"], SHORT_LINES], ids=["google", "short"])
def test_a_line_that_fills_the_limit_does_not_grow(edition: Edition) -> None:
    """FMT-13: its last byte would be cut off."""
    assert edition.max_line is not None
    full = b"Disallow:/".ljust(edition.max_line, b"x")
    found = [
        [finding.code for finding in each.lint() if finding.replacement is not None]
        for each in (
            RobotsTxt.parse(b"User-agent:a\n" + line, edition) for line in (full, full[:-1])
        )
    ]
    assert found[0] == found[1][:-1]


def test_the_limit_of_an_edition_counts_for_plain_lines_too() -> None:
    """FMT-13: the linter looks at them."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /long\n", SHORT_LINES)
    assert (2, "RS105") in [(each.line, each.code) for each in robots.lint()]


@pytest.mark.parametrize("group", [b"Disallow:/a", b"Allow:/", b"Allow: /\nAllow: /", b"Allow:/b"])
def test_two_passes_follow_the_proposals_of_many_groups(
    group: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: the passes over a file are not as many as its proposals."""
    parsed: list[bytes] = []

    def parse(body: bytes, edition: Edition) -> RobotsTxt:
        parsed.append(body)
        return RobotsTxt.parse(body, edition)

    monkeypatch.setattr(commands, "RobotsTxt", SimpleNamespace(parse=parse))
    body = b"".join(b"User-agent:%c\n%b\n" % (97 + n % 20, group) for n in range(100))
    fixed(body, EDITIONS["google-2019"], CODES)
    assert len(parsed) <= 4
