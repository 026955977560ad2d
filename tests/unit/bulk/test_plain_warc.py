"""WARC files that are not compressed: where their records begin, with and without damage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scrapy_robotspec.bulk.documents import Document
from tests.support.warc import response, write_warc
from tests.unit.bulk.test_warc import Problem, read

Read = Document | Problem


def bodies(found: list[Read]) -> dict[str | None, bytes | None]:
    """The bodies that count, by URL."""
    kept = [each for each in found if isinstance(each, Document) and not each.error]
    assert len({each.url for each in kept}) == len(kept), "a record was read twice"
    return {each.url: each.body for each in kept}


def problems(found: list[Read]) -> list[str]:
    return [each.message for each in found if isinstance(each, Problem)]


def url(number: int) -> str:
    return f"https://{number}.example/robots.txt"


def archive(path: Path) -> Path:
    """An archive of 12 sites; the body of number 3 contains a whole archive."""
    files = [b"User-agent: *\nDisallow: /%d\n" % n * 20 for n in range(12)]
    inner = write_warc(path, [response(url(99), b"Disallow: /inner")], compressed=False)
    files[3] += inner.read_bytes() + files[3]
    records = [response(url(n), body) for n, body in enumerate(files)]
    return write_warc(path, records, compressed=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An archive."""
    return archive(tmp_path / "x.warc")


def places(path: Path) -> dict[int, int]:
    """The offset of each site's response."""
    found = [each for each in read(path) if isinstance(each, Document)]
    return {
        int(str(each.url)[8:].partition(".")[0]): int(str(each.source).rpartition(":")[2])
        for each in found
    }


LENGTHS = {
    "missing": b"X: 1",
    "no number": b"Content-Length: many",
    "negative": b"Content-Length: -5",
    "too small": b"Content-Length: 100",
    "zero": b"Content-Length: 0",
    "too large": b"Content-Length: 1500",
    "beyond the end": b"Content-Length: 99999999999",
    "beyond any file": b"Content-Length: " + b"9" * 18,
    "beyond any number": b"Content-Length: " + b"9" * 40,
}


@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("number", [0, 5, 11])
def test_wrong_length_costs_its_record(path: Path, length: bytes, number: int) -> None:
    """Its body counts for nothing, and the damage is named once, with its place."""
    whole = bodies(read(path))
    data, place = path.read_bytes(), places(path)[number]
    path.write_bytes(data[:place] + re.sub(rb"Content-Length: \d+", length, data[place:], count=1))
    found = read(path)
    del whole[url(number)]
    assert bodies(found) == whole
    assert problems(found) == [f"{path}: the record at byte {place} is damaged"]


def test_line_feeds_end_the_lines_of_a_header(path: Path) -> None:
    """As some writers have it; the header of the HTTP response is the server's."""
    whole = bodies(read(path))
    data = path.read_bytes()
    heads = re.compile(rb"WARC/1\.0\r\n(?:[^\r\n]+\r\n)+\r\n")
    path.write_bytes(heads.sub(lambda head: head[0].replace(b"\r\n", b"\n"), data))
    found = read(path)
    del whole[url(3)]  # whose body contains such headers and is shorter now
    assert bodies(found).items() >= whole.items()


@pytest.mark.parametrize(
    "garbage",
    [
        b"?",
        b"garbage\r\n\r\n",
        b"\0" * ((1 << 20) - 5),
        b"WARC/1.0\r\n\r\n",
        b"WARX/1.0\r\nA: 1\r\n\r\n",
    ],
)
@pytest.mark.parametrize("number", [None, 0, 4, 11])
def test_garbage_between_records_costs_none(path: Path, garbage: bytes, number: int | None) -> None:
    """At the beginning, and behind number 3, whose body contains an archive that does not count."""
    whole = bodies(read(path))
    data = path.read_bytes()
    begin = 0 if number is None else places(path)[number]
    path.write_bytes(data[:begin] + garbage + data[begin:])
    found = read(path)
    assert bodies(found) == whole
    assert len(problems(found)) == 1


@pytest.mark.parametrize("within", ["header", "body"])
def test_archive_that_a_new_crawl_continues_behind_a_cut_is_read(path: Path, within: str) -> None:
    """The crawl was killed while it wrote a record, and appends to the file."""
    data = path.read_bytes()
    found = places(path)
    cut = found[5] + (60 if within == "header" else data[found[5] :].index(b"Disallow") + 11)
    more = archive(path).read_bytes().replace(b".example", b".other")
    path.write_bytes(data[:cut] + more)
    both = read(path)
    assert list(bodies(both)) == [
        *(url(n) for n in range(5)),
        *(url(n).replace(".example", ".other") for n in range(12)),
    ]
    assert problems(both) == [f"{path}: the record at byte {found[5]} is damaged"]
