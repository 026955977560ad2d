"""The edition ``google`` against Google's own matcher, on files made at random.

``pip install '.[peers]'`` installs the matcher (``jwm.robotstxt``) where it is available.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from conformance.cases import cases_of
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

google = pytest.importorskip("jwm.robotstxt.googlebot", reason="jwm.robotstxt is not installed")

FILES = 2_000

NAMES = [
    *b"FooBot foobot FooBot/1.0 Foo BarBot * *x **".split(),
    b"* x",
    b"*\t",
    b"\x0b*",
    b"",
    b"*\xa0",
]
FIELDS = [
    *[b"User-agent"] * 8,
    *(b"useragent", b"user agent", b"USER-AGENTS", b"user_agent", b"User -agent"),
    *[b"Allow"] * 6,
    *(b"allow-all", b"ALLOW", b"alow"),
    *[b"Disallow"] * 12,
    *(b"disalow", b"dissallow", b"diasllow", b"diaslow", b"disallowed", b"\x0cDisallow"),
    *(b"Sitemap", b"Crawl-delay", b"", b"#", b"noindex", b"Dis\x00allow"),
]
COLONS = [*[b": "] * 6, b":", b" : ", b" ", b"\t", b"  ", b"", b"::", b"\x00:", b":\x0b", b"\xa0:"]
PARTS = [
    *b"a b ab / // * ** $ ? & = %2A %2a %24 %2F %41 % %4 %zz \xc3\xa9 %C3%A9 %c3%a9 \xe9".split(
        b" "
    ),
    *b"%E9 \xff ; . : ~ ! # $$ *$ A \\ [ \x00 \x7f index.html /index.htm /index.htm*".split(b" "),
    *(b" ", b"\t", b"\x0b"),
]
ENDS = [*[b"\n"] * 8, b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\x85", b"\xe2\x80\xa8", b"\n \n"]
STARTS = [
    b"User-agent: FooBot\n",
    b"User-agent: *\n",
    b"\xef\xbb\xbfuser-agent:foobot\r\n",
    b"\xef",
    b"",
]


def path(chance: random.Random) -> bytes:
    """A rule's path, mostly with a slash in front; seldom as long as a line may be."""
    parts = chance.choices(PARTS, k=chance.randrange(6))
    if chance.random() < 0.002:
        parts.append(b"x" * chance.randrange(16_640, 16_670))
    return (b"/" if chance.random() < 0.8 else b"") + b"".join(parts)


def file(chance: random.Random) -> bytes:
    """A robots.txt with valid and odd lines."""
    body = chance.choice(STARTS)
    for _ in range(chance.randrange(1, 12)):
        field = chance.choice(FIELDS)
        names = field.lower().startswith(b"user")
        value = chance.choice(NAMES) if names else path(chance)
        body += field + chance.choice(COLONS) + value + chance.choice(ENDS)
    return body


def urls(chance: random.Random, body: bytes) -> Iterator[str]:
    """URLs as Google's crawler sends them: from the file's own paths, and others."""
    for own in [*re.findall(rb"(?i)allow:\s*(\S+)", body), b"/", path(chance)]:
        text = own[:300].replace(b"*", chance.choice((b"", b"a", b"*"))).removesuffix(b"$")
        text += chance.choice((b"", b"", b"a", b"/b", b"?q"))
        escaped = "".join(chr(c) if 32 < c < 127 else f"%{c:02X}" for c in text.lstrip(b"/"))
        upper = re.sub("%[0-9a-fA-F]{2}", lambda found: found[0].upper(), escaped)
        yield f"http://example.com/{upper}"


def differences(seed: int) -> Iterator[tuple[object, ...]]:
    """Verdicts or lines that are not those of Google's matcher."""
    chance = random.Random(seed)
    body = file(chance)
    robots = RobotsTxt.parse(body, "google")
    for tokens in (["FooBot"], chance.choice((["BarBot"], ["Foo"], ["BarBot", "FooBot"]))):
        for url in urls(chance, body):
            matcher = google.RobotsMatcher()
            expected = matcher.AllowedByRobots(body, tokens, url), matcher.matching_line()
            verdict = robots.explain(url, tokens)
            found = verdict.allowed, verdict.rule.line if verdict.rule else 0
            if not found == expected == (robots.allowed(url, tokens), expected[1]):
                yield seed, body, tokens, url, expected, found


def test_every_verdict_and_line_of_random_files_is_googles() -> None:
    """One seed for each file, so that a failure names what to repeat."""
    assert [found for seed in range(FILES) for found in differences(seed)] == []


def test_googles_matcher_gives_every_verdict_of_the_suite() -> None:
    """Open cases too. Only the limit on a file's size is not the matcher's but its caller's."""
    for case in cases_of("google"):
        if case.question == "allowed" and case.data["statement"] != "FMT-12":
            given = google.RobotsMatcher().AllowedByRobots(case.body, [*case.tokens], case.url)
            assert given is case.expected, case.id
