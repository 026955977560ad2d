"""The fuzz targets: functions of bytes that raise where something is wrong.

No fuzzer is needed to import this file; ``run.py`` drives it, and a test replays the corpus.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from fuzz.access_logs import access_log
from fuzz.evidence import evidence
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.access.record import MAGIC, RobotsRecord
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable

#: Moments at which a record is judged (epoch seconds): before, around and long after its times.
MOMENTS = (0.0, 1_800_000_000.0, 1_800_080_000.0, 4_000_000_000.0)
POLICIES = [AccessPolicy(edition=edition) for edition in EDITIONS.values()]


def parse(data: bytes) -> None:
    """URL, product token and file on lines, read in every edition."""
    url, _, rest = data.partition(b"\n")
    token, _, body = rest.partition(b"\n")
    for edition in EDITIONS:
        check_file(body, edition, url.decode("utf-8", "surrogateescape"), token.decode("latin-1"))


def check_file(body: bytes, edition: str, url: str, token: str) -> None:
    """All answers about one file agree, the first time and later."""
    robots = RobotsTxt.parse(body, edition)
    try:
        first = robots.explain(url, token)
    except ValueError:  # UAG-11: no group can be found under such a token
        return
    for other in ("/", url + "/"):  # another URL has the rules compiled
        robots.allowed(other, token)
        assert robots.allowed(url, token) is first.allowed
        assert robots.explain(url, token) == first
    served = robots.explain_served(url, token)
    assert served == first or (first.allowed and not served.allowed and served.resolved != url)
    again = RobotsTxt.parse(body, edition)
    assert again.allowed(url, (token,)) is first.allowed
    matching = robots.matches(url, token)
    if first.reason == "rule":
        assert first.rule == matching[0]
    elif first.reason != "robots_txt_itself":
        assert matching == ()
    lines = body.count(b"\n") + body.count(b"\r") + 1
    assert all(1 <= rule.line <= lines for rule in matching)
    for group in robots.groups:
        assert group.first_line <= lines
    delay = robots.crawl_delay(token)
    assert delay is None or delay >= 0
    for finding in robots.lint():
        assert safe(finding.message).isprintable()
    assert all("://" in sitemap for sitemap in robots.sitemaps)
    assert len(robots.other(token)) <= lines


def record(data: bytes) -> None:
    """Bytes from a store, alone and in a valid frame."""
    check_record(data)
    text, _, body = data.partition(b"\0")
    check_record(framed(text, body))


def framed(text: bytes, body: bytes) -> bytes:
    """A frame with a valid checksum around any JSON."""
    return MAGIC + zlib.compress(text.replace(b"\n", b" ") + b"\n" + body)


def check_record(data: bytes) -> None:
    """Records survive a round trip, and every policy can use them."""
    found = RobotsRecord.from_bytes(data)
    if found is None:
        return
    assert RobotsRecord.from_bytes(found.to_bytes()) == found
    for policy in POLICIES:
        for now in MOMENTS:
            policy.plan(found, now)


def seeds() -> dict[str, bytes]:
    """Texts of frames for the corpus of ``record``."""
    full = {
        "origin": ["http", "example.com", 80], "meaning": "rules", "status": 200,
        "fetched_at": 1.8e9, "expires_at": 1.80008e9, "content_type": "text/plain",
        "hops": [["http://example.com/robots.txt", 301, "http://example.com/r"]], "truncated": True,
    }  # fmt: skip
    failed = {
        "origin": ["https", "::1", 8443], "unreachable_since": 1.8e9, "failed_at": 1.8e9,
        "next_attempt": 1.80000001e9, "failures": 3, "unanswered": 2, "failure": "timeout",
    }  # fmt: skip
    body = b"User-agent: *\nDisallow: /no\n"
    return {
        "full": json.dumps(full).encode() + b"\0" + body,
        "long": json.dumps(full).encode() + b"\0" + body * 20,
        "failed": json.dumps(failed).encode() + b"\0",
        "both": json.dumps(full | failed).encode() + b"\0" + body,
        "empty": b"{}\0",
    }


TARGETS: dict[str, Callable[[bytes], None]] = {
    "parse": parse,
    "record": record,
    "evidence": evidence,
    "access_log": access_log,
}
