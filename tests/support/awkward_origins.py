"""Makes ``tests/unit/evidence/folders/rules-N.tar.xz`` from crawls of awkward origins.

python -m tests.support.awkward_origins FILE
"""

from __future__ import annotations

import gzip
import sys
import tarfile
import tempfile
from typing import Any

from tests.support.crawl import crawl
from tests.support.responses import Answer, in_turn, raw, redirect, reply, reset, silence
from tests.support.server import Server

NO = "User-agent: *\nDisallow: /no\n"
RULES = """User-agent: *
Allow: /no/but
Disallow: /no
Disallow: /itm/*/%
Disallow: /a%2
Disallow: /*%
Disallow: /q?x=%D*
Content-Usage: train-ai=n
Crawl-delay: 0.01

User-agent: otherbot
Disallow: /
"""
PAGE = "<!DOCTYPE html><html><body>Disallow: /</body></html>"
PART = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser"
PATHS = (
    *("/", "/no", "/no/but/x", "/itm/x/%E2%98%85", "/itm/x/y", "/a%20b", "/a%2Fb", "/x%41"),
    *("/q?x=%D0%B6", "/b", "/r/../no", "/%6eo"),
)
CHALLENGE = [("cf-mitigated", "challenge")]
QUICK: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 100,
    "RETRY_ENABLED": False,
    "ROBOTSPEC_FETCH_TIMEOUT": 1.0,
    "ROBOTSPEC_HOLD_TIMEOUT": 1.0,
    "ROBOTSPEC_RETRY_DELAY": 0.1,
    "ROBOTSPEC_RETRY_MAX_DELAY": 0.2,
}
SHORT_LIVED: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0.3,
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    "ROBOTSPEC_CACHE_TTL": 0.4,
    "ROBOTSPEC_CACHE_MIN_TTL": 0.2,
    "ROBOTSPEC_CACHE_MAX_TTL": 0.4,
}


def answers(target: str) -> list[Answer]:
    """One for each origin; *target*: a robots.txt to redirect to."""
    good, packed = reply(NO), gzip.compress(NO.encode())
    statuses = (204, 202, 304, 401, 403, 404, 407, 408, 421, 429, 451, 503, 511, 600)
    texts = ("Not Found", "not found\n", "PROTECTED", "ok", "", PAGE, "{}", "<urlset/>")
    headers = (
        [("Vary", "User-Agent"), ("Cache-Control", 'max-age="60", x="a\\"b"')],
        [("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")],
        [("Retry-After", "9"), ("Age", "5"), ("Age", "7"), ("Cache-Control", "max-age=600")],
        [("Content-Type", "text/html")],
        CHALLENGE,
    )
    again = ([503], [304], [421], [429, 429, 429], [503, 429, 503])
    return [
        *(reply("", status) for status in statuses),
        *map(reply, texts),
        *(reply(NO, headers=each) for each in headers),
        *(in_turn(*(reply("", status) for status in each), good) for each in again),
        reply("", 403, headers=CHALLENGE),
        reply("", 429, headers=[("Retry-After", "7200")]),
        reply(NO, 206, headers=[("Content-Range", "bytes 5-30/99")]),
        reply("User-agent: *\nDisallow: /\n", 404),
        reply(packed, headers=[("Content-Encoding", "gzip")]),
        reply(b"\xef\xbb\xbf" + b"\x00\xff\r" * 5 + NO.encode()),
        silence(),
        raw(b"\x00\xff garbage\r\n\r\n"),
        in_turn(reset(PART), good),
        redirect(target),
        redirect(target.replace("//", "//user:secret@")),
        *map(redirect, (None, "", "/robots.txt", "ftp://127.0.0.3/", "http://127.0.0.1:1/")),
    ]


def sequences() -> list[Answer]:
    """One after another answer, for one origin each."""
    found = {0: reply(NO), 1: reply(PAGE), 2: reply("Not Found"), 3: reset(b"")}
    rows = (
        *((0, 503, 429, 503, 0), (0, 429, 429, 429, 429, 503), (503, 429, 503, 404, 503)),
        *((0, 304, 0, 503), (404, 429, 503, 0), (403, 429, 403, 503), (0, 1, 0), (2, 0, 503)),
        *((0, 3, 0), (0, 421, 0), (403, 403, 403), (429, 503, 429, 503, 429)),
    )
    return [in_turn(*(found.get(each) or reply("", each) for each in row)) for row in rows]


def make(folder: str) -> None:
    """Crawl, and keep the evidence in *folder*."""
    settings = {**QUICK, "ROBOTSPEC_EVIDENCE": folder}
    with Server() as server:
        target = server.site("127.0.0.3", NO)
        pages = {"/b": reply("", headers=[("Content-Usage", "train-ai=y")])}
        rules = server.site("127.0.0.2", RULES, pages=pages)
        given = enumerate(answers(target.url("/robots.txt")), 4)
        sites = [server.site(f"127.0.0.{number}", answer) for number, answer in given]
        urls: list[str | dict[str, Any]] = [rules.url(path) for path in PATHS]
        urls += [site.url(path) for site in (target, *sites) for path in ("/", "/no")]
        urls += ["http://nowhere.invalid/", "http://127.0.0.1:1/"]
        urls.append({"url": target.url("/no?exempt"), "meta": {"dont_obey_robotstxt": True}})
        overrides = {
            sites[0].host: "disallow",
            sites[4].host: {"status_policy": {"4xx": "disallow"}},
            target.host: "User-agent: *\nDisallow: /own\n",
        }
        usage = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_OVERRIDES": overrides}
        crawl(urls, {**settings, **usage})
        for number, edition in enumerate(({"base": "google-2019", "stale_after": 0.6}, "google")):
            given = enumerate(sequences(), 1)
            sites = [server.site(f"127.0.{number + 1}.{n}", answer) for n, answer in given]
            urls = [site.url(f"/{p}{n}") for n in range(6) for site in sites for p in ("", "no")]
            crawl(urls, {**settings, **SHORT_LIVED, "ROBOTSPEC_EDITION": edition})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name, tarfile.open(sys.argv[1], "w:xz") as archive:
        make(name)
        archive.add(name, ".")
