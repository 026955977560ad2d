"""``check --sitemap``: sitemaps as files, their limits, and other files."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.cli import sitemap
from scrapy_robotspec.cli.session import MisuseError
from tests.support.command_line import RunCommand

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
IMAGE = '<i:image xmlns:i="x"><i:loc>https://shop.example/i.png</i:loc></i:image>'


def document(*urls: str, index: bool = False) -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    each = "".join(f"<{inner}><loc> {url}\n</loc>{IMAGE}</{inner}>" for url in urls)
    return f'<?xml version="1.0"?><{outer} {XMLNS}>{each}</{outer}>'.encode()


URLS = ["https://shop.example/", "https://shop.example/cart/1", "https://other.example/x"]


BODIES = {
    "xml": document(*URLS),
    "xml in UTF-16": document(*URLS).decode().encode("utf-16"),
    "text": "\n".join(URLS).encode(),
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_every_url_of_a_sitemap_is_answered(
    run_command: RunCommand, folder: Path, body: bytes, pack: type[bytes]
) -> None:
    """The exit code is 1 for a refused one; other origins are not covered (LOC-02)."""
    (folder / "sitemap.xml.gz").write_bytes(pack(body))
    result = run_command("check", "robots.txt", "--sitemap", "sitemap.xml.gz")
    assert result.code == 1
    assert result.lines == [
        "not covered https://other.example/x  (the robots.txt of another origin)",
        "allowed     https://shop.example/  (no rule of the group matches)",
        "disallowed  https://shop.example/cart/1  (line 15: Disallow: /cart/)",
    ]
    assert result.err == "2 answers: 1 allowed, 1 disallowed, 1 not covered\n"
    rows = run_command("check", "robots.txt", "--sitemap", "sitemap.xml.gz", "--json").lines
    assert [json.loads(row)["allowed"] for row in rows] == [None, True, False]
    assert run_command("check", "open.txt", "--sitemap", "sitemap.xml.gz").code == 0


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

WRONG = {
    "an empty file": (b"", "is not a sitemap with URLs of pages"),
    "text": (b"no sitemap\n", "is not a sitemap with URLs of pages, but names 'no sitemap'"),
    "another document": (b"<html><url><loc>/x</loc></url></html>", "is not a sitemap"),
    "broken XML": (
        b"<urlset><url><loc>/x</loc></url>",
        "cannot read list.xml: no element found",
    ),
    "entities": (BOMB + document(*URLS), "declares a document type"),
    "entities in UTF-16": (
        (BOMB + document(*URLS)).decode().encode("utf-16-le"),
        "declares a document type",
    ),
    "deep XML": (b"<url>" * 200 + b"</url>" * 200, "its elements are nested too deeply"),
    "a broken archive": (b"\x1f\x8bnonsense", "cannot read list.xml: Unknown compression method"),
    "a compressed bomb": (gzip.compress(bytes(60 * 2**20), 1), "is larger than 50 MB"),
    "too many URLs": (document(*URLS * 20_000), "has more than 50,000 URLs"),
}


def test_no_more_of_an_archive_is_unpacked_than_a_sitemap_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SAF-05: a few bytes may contain any number."""
    sizes: list[int] = []

    class Counted(gzip.GzipFile):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            sizes.append(len(data))
            return data

    monkeypatch.setattr(gzip, "GzipFile", Counted)
    monkeypatch.setattr(sitemap, "MAX_BYTES", 100)
    with pytest.raises(MisuseError, match="is larger"):
        sitemap.parse_sitemap("list.gz", gzip.compress(bytes(1000)))
    assert sizes == [101]


@pytest.mark.parametrize(
    ("unit", "size"), [(b"<url/>", 300_000), (b"<a/>", 300_000), (b"<url>", 6_000_000)]
)
def test_reading_takes_little_more_memory_than_the_file(unit: bytes, size: int) -> None:
    """SAF-05: 50 KB of an archive may contain 13 million elements, beside or in one another."""
    body = b"<urlset>" + unit * (size // len(unit)) + b"</urlset>"
    tracemalloc.start()
    try:
        with pytest.raises(MisuseError):
            sitemap.parse_sitemap("list.xml", body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(body)


@pytest.mark.parametrize(("body", "words"), WRONG.values(), ids=WRONG)
def test_another_file_is_a_misuse_in_one_line(
    run_command: RunCommand, folder: Path, body: bytes, words: str
) -> None:
    """SAF-05: whatever it claims, reading it is bounded."""
    (folder / "list.xml").write_bytes(body)
    result = run_command("check", "robots.txt", "--sitemap", "list.xml")
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert result.err.count("\n") == 1


@given(st.one_of(st.binary(max_size=200), st.binary(max_size=40).map(b"\x1f\x8b\x08\0".__add__)))
def test_no_bytes_raise_anything_but_a_misuse(body: bytes) -> None:
    """SAF-05."""
    with suppress(MisuseError):
        assert sitemap.parse_sitemap("x", body).urls


def test_the_urls_of_each_rule_are_counted(run_command: RunCommand, folder: Path) -> None:
    """PRE-01: which ones a rule matches besides those that are meant, and which rule wins."""
    rules = "Disallow: /cart\nAllow: /fish*$\nDisallow: /*fish**\nDisallow: /none\nDisallow:\n"
    (folder / "shop.txt").write_text(f"User-agent: *\n{rules}\nUser-agent: a\nDisallow: /\n")
    site = "https://shop.example/"
    names = ["cart", "cartoon", "cartridge", "carton", "fish", "fish/1", "sunfish", "about"]
    (folder / "urls.xml").write_text("\n".join(site + name for name in names))
    words = ["check", "shop.txt", "--sitemap", "urls.xml", "--by-rule"]
    result = run_command(*words)
    assert result.code == 1
    starred = "shop.txt: line 4: Disallow: /*fish**  3 URLs (decides about 1)"
    assert result.lines == [
        f"shop.txt: line 2: Disallow: /cart  4 URLs: {site}cart, {site}cartoon, {site}cartridge",
        f"shop.txt: line 3: Allow: /fish*$  2 URLs: {site}fish, {site}fish/1",
        f"{starred}: {site}fish, {site}fish/1, {site}sunfish",
        "shop.txt: line 5: Disallow: /none  0 URLs",
    ]
    assert result.err == "8 answers: 3 allowed, 5 disallowed\n"
    rows = [*map(json.loads, run_command(*words, "--json").lines)]
    assert [(row["line"], row["matched"], row["decided"]) for row in rows] == [
        *((2, 4, 4), (3, 2, 2), (4, 3, 1), (5, 0, 0))
    ]
    both = run_command("check", "shop.txt", "/x", "/cart", "--by-rule", "--each-token", "--json")
    rows = [*map(json.loads, both.lines)]
    assert [(row["line"], row["matched"]) for row in rows] == [
        *((9, 2), (2, 1), (3, 0), (4, 0), (5, 0))
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'<rss version="2.0"><channel><item><link>x</link></item></channel></rss>', "an RSS feed"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>', "an Atom feed"),
        (document("https://shop.example/", ""), "has an empty <loc>"),
        (b"\n" * 200_000 + b" \t\n" * 1000, "is not a sitemap"),
        (b"https://shop.example/\n" * 60_000, "has more than 50,000 URLs"),
    ],
)
def test_other_kinds_are_named(body: bytes, words: str) -> None:
    """At most as many lines are made as a sitemap may have URLs."""
    with pytest.raises(MisuseError, match=words):
        sitemap.parse_sitemap("list.xml", body)


@pytest.mark.parametrize("part", ["<!--{}-->", '<url a="{}"/>', "<?x {}?>"])
def test_a_part_without_an_end_is_not_read_again_and_again(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """SAF-05: it takes the square of its length in old parsers, in parts of a large size."""
    fed: list[int] = []

    class Counted(sitemap.XMLParser):  # type: ignore[misc, name-defined]
        def feed(self, data: bytes) -> None:
            fed.append(len(data))
            super().feed(data)

    monkeypatch.setattr(sitemap, "XMLParser", Counted)
    body = "<urlset>" + part.format("a" * 5_000_000) + "</urlset>"
    with pytest.raises(MisuseError, match="is not a sitemap"):
        sitemap.parse_sitemap("x", body.encode())
    assert len(fed) < 10
    text = (
        b"<?xml version='1.0'?><x>"
        + b"a" * 5_000_000
        + document("https://shop.example/")[21:]
        + b"</x>"
    )
    assert len(sitemap.parse_sitemap("x", text).urls) == 1


class Sites:
    """Answers downloads, and keeps the URLs that were asked for."""

    def __init__(self, **bodies: bytes) -> None:
        self.bodies = bodies
        self.asked: list[tuple[str, str]] = []

    async def decide(self, urls: Sequence[str]) -> None:
        raise AssertionError

    async def download(self, url: str, max_bytes: int, named_by: str = "") -> bytes:
        self.asked.append((url, named_by))
        return self.bodies[url.rpartition("/")[2].partition(".")[0]]


@pytest.mark.parametrize("scheme", ["file:///etc/", "s3://bucket/", "ftp://h.example/", "data:"])
def test_files_of_other_schemes_are_never_read(scheme: str) -> None:
    """The writer of a robots.txt or an index chooses no file of this machine."""
    robots = f"Sitemap: {scheme}secret\nSitemap: https://shop.example/a.xml\n".encode()
    sites = Sites(robots=robots, a=document("https://shop.example/x"))

    name = "https://shop.example/robots.txt"
    assert asyncio.run(read_of(sites, name)) == ["https://shop.example/x"]
    assert sites.asked == [(name, ""), ("https://shop.example/a.xml", name)]
    with pytest.raises(MisuseError, match="names no sitemap"):
        asyncio.run(read_of(Sites(robots=robots.partition(b"\n")[0]), name))
    index = document(f"{scheme}secret", index=True)
    sites = Sites(index=index)
    name = "https://shop.example/index.xml"
    with suppress(MisuseError):  # of FTP there is nothing left
        assert asyncio.run(read_of(sites, name)) == []
    assert sites.asked == [(name, name)]


async def read_of(sites: Sites, name: str) -> list[str]:
    return [url async for urls in sitemap.read_all(name, None, sites) for url in urls]
