"""WARC files as inputs: what is read of each record, wherever reading begins."""

from __future__ import annotations

import gzip
import re
import zlib
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.warc import read_warc
from tests.support.warc import chunked, damaged, one_stream, response, write_warc

BODY = b"User-agent: *\nDisallow: /private/\n"
URL = "https://a.example/robots.txt"
LONG = BODY * 20_000


class Problem(NamedTuple):
    """Something that was reported."""

    message: str


def read(path: Path) -> list[Document | Problem]:
    """All that is read of an archive, and then what was reported."""
    problems: list[str] = []
    found = [document for document, _ in read_warc(str(path), problems.append)]
    return [*found, *map(Problem, problems)]


def documents(path: Path) -> list[Document]:
    """The documents of an input, without their place."""
    return [each._replace(source=None) for each in read(path) if isinstance(each, Document)]


ENCODED: list[tuple[bytes, list[tuple[str, str]]]] = [
    (BODY, []),
    (chunked(BODY), [("Transfer-Encoding", "chunked")]),
    (gzip.compress(BODY), [("Content-Encoding", "gzip")]),
    (
        chunked(gzip.compress(BODY)),
        [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")],
    ),
    (BODY, [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]),
    (chunked(gzip.compress(BODY)), [("Transfer-Encoding", "gzip, Chunked")]),
    (
        chunked(gzip.compress(zlib.compress(BODY))),
        [
            ("Transfer-Encoding", "gzip"),
            ("Content-Encoding", "deflate"),
            ("Transfer-Encoding", "chunked"),
        ],
    ),
    (BODY, [("X-Crawl-Content-Encoding", "gzip"), ("X-Crawl-Transfer-Encoding", "chunked")]),
]


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize(("body", "headers"), ENCODED, ids=range(len(ENCODED)))
def test_bodies_are_decoded(
    tmp_path: Path, body: bytes, headers: list[tuple[str, str]], compressed: bool
) -> None:
    """Also those that the archive holds decoded under the headers of the response."""
    records = [response(URL, body, headers=headers)]
    path = write_warc(tmp_path / "x.warc", records, compressed=compressed)
    assert documents(path) == [Document(URL, BODY, 200)]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (response(URL, b"gone", status=404), Document(URL, b"gone", 404)),
        (
            response(URL, b"", status=301, headers=[("Location", "/r.txt")]),
            Document(URL, b"", 301, "/r.txt"),
        ),
        (
            response(URL, LONG, WARC_Truncated="length"),
            Document(URL, LONG, 200),
        ),
        (
            response(URL, BODY, WARC_Truncated="length"),
            Document(URL, BODY, 200, error="the archive has only part of it: length"),
        ),
        (
            response(URL, BODY, headers=[("Content-Length", "999")]),
            Document(URL, BODY, 200, error="less than its Content-Length of 999"),
        ),
        (
            response(URL, BODY, headers=[("Content-Length", "999"), ("Content-Encoding", "gzip")]),
            Document(URL, BODY, 200),
        ),
        (
            response(URL, BODY, WARC_Truncated="disconnect"),
            Document(URL, BODY, 200, error="the archive has only part of it: disconnect"),
        ),
        (
            response(URL, BODY, WARC_Segment_Number="1"),
            Document(URL, BODY, 200, error="the archive has only part of it: segment 1"),
        ),
        (
            response(URL, BODY, headers=[("X-Long", "a" * (1 << 16))]),
            Document(URL, b"", 200, error="its HTTP headers do not end within 64 KiB"),
        ),
        (
            response(URL, gzip.compress(BODY)[:-9], headers=[("Content-Encoding", "gzip")]),
            Document(URL, BODY, 200, error="cannot be decoded: gzip"),
        ),
        (
            response(URL, b"\x01\x02", headers=[("Content-Encoding", "odd")]),
            Document(URL, b"", 200, error="cannot be decoded: odd"),
        ),
        (
            response(URL, b"", kind="revisit"),
            Document(URL, None, 200, error="the body is in another record (revisit)"),
        ),
    ],
    ids=[
        "404",
        "redirect",
        "cut behind the parsing limit",
        "cut before it",
        "shorter than stated",
        "decoded by the archive",
        "broken off",
        "the first of several segments",
        "long headers",
        "cut gzip",
        "unknown coding",
        "revisit",
    ],
)
def test_the_state_of_a_response_is_kept(
    tmp_path: Path, record: dict[str, Any], expected: Document
) -> None:
    """Status, target and what is missing: the policy decides by them."""
    assert documents(write_warc(tmp_path / "x.warc.gz", [record])) == [expected]


def archive(tmp_path: Path, *, compressed: bool = True) -> Path:
    """An archive of 12 sites; if compressed, a body has what looks like a record's beginning."""
    odd = gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\n\r\n")
    bodies = [b"User-agent: *\nDisallow: /%d\n" % n * 20 for n in range(12)]
    if compressed:
        bodies[3] = odd + bodies[3]
    return write_warc(
        tmp_path / ("x.warc.gz" if compressed else "x.warc"),
        [response(f"https://{n}.example/robots.txt", body) for n, body in enumerate(bodies)],
        compressed=compressed,
    )


def places(path: Path) -> list[int]:
    """The offset of each site's response."""
    found = [each for each in read(path) if isinstance(each, Document)]
    return [int(str(each.source).rpartition(":")[2]) for each in found]


@pytest.mark.parametrize("length", [b"", b"Content-Length: many\r\n", b"Content-Length: -1\r\n"])
def test_record_without_a_length_ends_an_archive_in_one_stream(
    tmp_path: Path, length: bytes
) -> None:
    """Nothing says where it ends, and rules of other sites are not its own."""
    records = [response(f"https://{n}.example/robots.txt", BODY) for n in range(5)]
    plain = write_warc(tmp_path / "x.warc", records, compressed=False)
    before, url, behind = plain.read_bytes().partition(b"https://2.example")
    behind = re.sub(rb"Content-Length: \d+\r\n", length, behind, count=1)
    plain.write_bytes(before + url + behind)
    path = one_stream(tmp_path / "y.warc.gz", plain)
    found = read(path)
    whole = [each for each in found if isinstance(each, Document) and not each.error]
    assert [each.body for each in whole] == [BODY, BODY]
    assert len([each for each in found if isinstance(each, Problem)]) == 1


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.55, 0.8, 0.97])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_cut_archive_is_read_up_to_the_cut(tmp_path: Path, compressed: bool, kept: float) -> None:
    """The rest is named; a record that is cut is not taken for a whole one."""
    path = archive(tmp_path, compressed=compressed)
    whole = documents(path)
    data = path.read_bytes()
    cut = int(len(data) * kept)
    begun = [place for place in places(path) if place < cut]
    path.write_bytes(data[:cut])
    found = documents(path)
    complete = [each for each in found if each.error is None]
    assert complete == whole[: len(complete)]
    assert len(found) - len(complete) <= 1
    assert len(begun) - 1 <= len(complete) < 12
    assert sum(isinstance(each, Problem) for each in read(path)) <= 1


@pytest.mark.parametrize("compressed", [True, False])
def test_each_cut_of_an_archive_is_named(tmp_path: Path, compressed: bool) -> None:
    """Be it in the head of a record; but between two of them."""
    path = write_warc(tmp_path / "x", [response(URL, BODY)] * 2, compressed=compressed)
    data, (begun, last), silent = path.read_bytes(), places(path), []
    for cut in range(begun + 1, last + 100):
        path.write_bytes(data[:cut])
        if not any(isinstance(each, Problem) or each.error for each in read(path)):
            silent.append(cut)
    between = [at for at in range(begun + 1, last + 100) if begins(data[at:], compressed)]
    ends = 0 if compressed else 4  # line ends behind a body that is whole
    assert silent == [at - less for at in between for less in range(ends, -1, -1)]
    assert last in between


def begins(data: bytes, compressed: bool) -> bool:
    """Whether *data* begins with a record."""
    if not compressed:
        return data.startswith(b"WARC/1.0\r\n")
    with suppress(zlib.error):
        return zlib.decompressobj(31).decompress(data, 9).startswith(b"WARC/1.0")
    return False


def test_an_archive_in_one_stream_that_is_cut_in_its_first_head_is_named(tmp_path: Path) -> None:
    plain = write_warc(tmp_path / "x.warc", [response(URL, BODY)], compressed=False)
    path = one_stream(tmp_path / "y.warc.gz", plain)
    path.write_bytes(path.read_bytes()[:60])
    (problem,) = read(path)
    assert "the record at byte 0 is damaged" in str(problem)


def test_a_record_without_a_response_is_named(tmp_path: Path) -> None:
    """Its row says what is wrong; the records after it are read."""
    path = write_warc(tmp_path / "x.warc", [response(URL, BODY)] * 3, compressed=False)
    path.write_bytes(path.read_bytes().replace(b"HTTP/1.1 200 X", b"HTTPS1.1 200 X", 1))
    assert [each.error for each in documents(path)] == [
        "the record has no HTTP response",
        None,
        None,
    ]


def test_records_behind_damage_are_read(tmp_path: Path) -> None:
    """One damaged member costs itself, wherever the bytes are wrong; the damage is named once."""
    path = archive(tmp_path)
    data, urls = path.read_bytes(), [each.url for each in documents(path)]
    place = places(path)[5]
    for inside in (0, 3, 20, 60):
        at = place + inside
        path.write_bytes(data[:at] + b"\x99" * 5 + data[at + 5 :])
        found = read(path)
        whole = [each.url for each in found if isinstance(each, Document) and not each.error]
        assert whole == urls[:5] + urls[6:], inside
        named = [each for each in found if isinstance(each, Problem)]
        cut = [each for each in found if isinstance(each, Document) and each.error]
        assert len(named) == 1 or len(cut) == 1


@pytest.mark.parametrize(
    ("content_range", "whole"), [("bytes 0-32/33", True), ("bytes 0-9/33", False)]
)
def test_part_of_a_file_is_incomplete(tmp_path: Path, content_range: str, whole: bool) -> None:
    """FET-02: a 206 that leaves bytes out."""
    record = response(URL, BODY, status=206, headers=[("Content-Range", content_range)])
    (found,) = documents(write_warc(tmp_path / "x.warc", [record]))
    assert (found.error is None) == whole


def test_chunks_that_are_cut_anywhere_are_incomplete(tmp_path: Path) -> None:
    """FET-14: half a file allows what the other half disallows."""
    sent = chunked(BODY)
    coding = [("Transfer-Encoding", "chunked")]
    cuts = range(1, len(sent) - len(b"\r\n"))
    records = [response(URL, sent[:cut], headers=coding) for cut in cuts]
    found = documents(write_warc(tmp_path / "x.warc", records))
    assert [each.error for each in found] == ["its chunks are cut or broken"] * len(cuts)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("compressed", "most"), [(True, 1), (False, 2)])
def test_any_damage_costs_what_it_touches_and_is_named(
    tmp_path: Path, compressed: bool, most: int, seed: int
) -> None:
    """Bytes changed, deleted or inserted: no record twice; if compressed, no wrong body."""
    path = archive(tmp_path, compressed=compressed)
    data, whole = path.read_bytes(), {each.url: each.body for each in documents(path)}
    path.write_bytes(damaged(data, seed))
    found = read(path)
    kept = [each for each in found if isinstance(each, Document)]
    good = {each.url: each.body for each in kept if each.error is None}
    assert len(good.keys() & whole.keys()) >= len(whole) - most
    assert len({each.url for each in kept}) == len(kept)
    named = [each for each in found if isinstance(each, Problem)]
    assert len(named) <= most
    if compressed:
        assert good.items() <= whole.items()
        assert named or good == whole


def test_record_without_a_length_is_damaged(tmp_path: Path) -> None:
    """Nothing says whether it is whole."""
    path = write_warc(tmp_path / "x.warc.gz", [response(URL, BODY), response(URL, BODY)])
    members = [gzip.decompress(piece) for piece in split_members(path)]
    members[2] = re.sub(rb"Content-Length: \d+\r\n", b"", members[2], count=1)
    path.write_bytes(b"".join(map(gzip.compress, members)))
    assert [(each.body, each.error is None) for each in documents(path)] == [
        (None, False),
        (BODY, True),
    ]


def split_members(path: Path) -> list[bytes]:
    """The gzip members of an archive."""
    data = path.read_bytes()
    places = [found.start() for found in re.finditer(b"\x1f\x8b\x08\0", data)]
    return [data[begin:end] for begin, end in pairwise([*places, len(data)])]


@pytest.mark.parametrize("stated", [20, 40])
def test_record_longer_than_its_length_is_damaged(tmp_path: Path, stated: int) -> None:
    """Nothing says how much of the file is missing, and its last rule may be cut."""
    other = "https://b.example/robots.txt"
    path = write_warc(tmp_path / "x.warc.gz", [response(URL, BODY), response(other, BODY)])
    members = [gzip.decompress(piece) for piece in split_members(path)]
    head, _, content = members[2].partition(b"\r\n\r\n")
    assert len(content) > stated
    short = re.sub(rb"(?<=\nContent-Length: )\d+", b"%d" % stated, head)
    members[2] = short + b"\r\n\r\n" + content
    path.write_bytes(b"".join(map(gzip.compress, members)))
    cut, sound = documents(path)
    assert (cut.url, cut.error is None) == (URL, False)
    assert sound == Document(other, BODY, 200)
    assert sum(isinstance(each, Problem) for each in read(path)) == 1


def in_lower_case(path: Path, name: bytes) -> Path:
    """The archive with a field of each record as other writers name it."""
    members = [gzip.decompress(piece) for piece in split_members(path)]
    changed = [member.replace(name + b":", name.lower() + b":", 1) for member in members]
    path.write_bytes(b"".join(map(gzip.compress, changed)))
    return path


@pytest.mark.parametrize(
    "name", [b"WARC-Type", b"WARC-Target-URI", b"Content-Type", b"Content-Length"]
)
@pytest.mark.parametrize("kind", ["response", "revisit"])
def test_fields_are_named_in_any_case(tmp_path: Path, name: bytes, kind: str) -> None:
    """FastWARC knows types and lengths by one spelling."""
    records = [response(URL, BODY, kind=kind), response(URL, LONG), response(URL, BODY)]
    path = write_warc(tmp_path / "x.warc.gz", records)
    expected = documents(path)
    assert len(expected) == len(records)
    assert documents(in_lower_case(path, name)) == expected
    assert [each for each in read(path) if isinstance(each, Problem)] == []
