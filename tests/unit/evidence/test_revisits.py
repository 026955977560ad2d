"""Responses whose body the archive has: they refer to it, and are read with it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from scrapy_robotspec.bulk.inputs import documents
from scrapy_robotspec.evidence import warc
from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.warc import (
    ArchivedBodies,
    NewRecord,
    iso_date,
    read_member,
    to_member,
)
from tests.support.evidence import RULES, START, Crawl, asked_for, lines_of

SITE, URL = "https://example.com", "https://example.com/robots.txt"
HEAD = b"HTTP/1.1 200 OK\r\nETag: x\r\n\r\n"
LONG = RULES + b"# filled\n" * 100
OTHER = LONG.replace(b"private", b"another")


def crawl_of(folder: Path, bodies: list[bytes]) -> Crawl:
    """A robots.txt is fetched every ten seconds, and decides about two pages."""
    crawl = Crawl(folder)
    for number, body in enumerate(bodies):
        now = START + 10 * number
        crawl.fetch(SITE, body, at=now)
        crawl.decide(f"{SITE}/private/x", now + 1)
        crawl.decide(f"{SITE}/another/x", now + 1)
    crawl.close(START + 10 * len(bodies))
    return crawl


def kinds(folder: Path) -> list[str]:
    """The kinds of the archived responses, in order."""
    return [each["kind"] for each in lines_of(folder) if each["type"] == "record"][1:]


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ([LONG, LONG, LONG], ["response", "revisit", "revisit"]),
        ([LONG, OTHER, OTHER, LONG], ["response", "response", "revisit", "response"]),
        ([RULES, RULES], ["response", "response"]),
        ([b"", b""], ["response", "response"]),
    ],
    ids=["same", "changed", "short", "empty"],
)
def test_an_unchanged_body_is_archived_once(
    tmp_path: Path, bodies: list[bytes], expected: list[str]
) -> None:
    crawl_of(tmp_path, bodies)
    assert kinds(tmp_path) == expected
    result = replay(tmp_path)
    assert (result.problems, result.agree) == ([], 2 * len(bodies))


@given(st.lists(st.sampled_from([LONG, OTHER, RULES, b"", LONG + b"\n"]), max_size=8))
def test_each_verdict_comes_from_the_body_that_was_received(bodies: list[bytes]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        crawl_of(folder, bodies)
        result = replay(folder)
        assert (result.problems, result.agree) == ([], 2 * len(bodies))
        (archive,) = folder.glob("*.warc.gz")
        found = [each.body for each in documents(str(archive), lambda _: None)]
        assert found == bodies, "bulk reads the same bodies"


def test_a_large_file_costs_a_refresh_less_than_one_kilobyte(tmp_path: Path) -> None:
    large = b"".join(b"Disallow: /%d\n" % (n * n) for n in range(30_000))
    crawl_of(tmp_path, [RULES + large] * 3)
    lengths = [each["length"] for each in lines_of(tmp_path) if each["type"] == "record"]
    assert lengths[1] > 50_000
    assert max(lengths[2:]) < 1500


def test_other_readers_take_it_for_a_revisit(tmp_path: Path) -> None:
    crawl_of(tmp_path, [LONG, LONG])
    (archive,) = tmp_path.glob("*.warc.gz")
    found = list(ArchiveIterator(BytesIO(archive.read_bytes()), check_digests="raise"))
    first, second = (each for each in found if each.rec_type in ("response", "revisit"))
    get, original = second.rec_headers.get_header, first.rec_headers.get_header
    assert get("WARC-Profile").endswith("/1.1/revisit/identical-payload-digest")
    for name, of in {
        "WARC-Refers-To": "WARC-Record-ID",
        "WARC-Refers-To-Date": "WARC-Date",
        "WARC-Refers-To-Target-URI": "WARC-Target-URI",
        "WARC-Payload-Digest": "WARC-Payload-Digest",
    }.items():
        assert get(name) == original(of)
    assert second.http_headers.get_header("Content-Type") == "text/plain"


def test_cut_bodies_and_other_kinds_are_archived_whole() -> None:
    """What a reader would take for the whole file is one."""
    bodies = ArchivedBodies()
    whole = NewRecord("response", URL, START, LONG, head=HEAD)
    cut = NewRecord("response", URL, START, LONG, head=HEAD, fields="WARC-Truncated: length\r\n")
    stored = NewRecord("resource", URL, START, LONG)
    assert [bodies.refer(each).kind for each in (cut, whole, cut, stored, whole)] == [
        "response",
        "response",
        "response",
        "resource",
        "revisit",
    ]


def test_as_many_bodies_are_known_as_the_bound_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "_MAX_KNOWN", 3)
    bodies = ArchivedBodies()

    def kind(host: str) -> str:
        return bodies.refer(NewRecord("response", f"https://{host}/", 1.5, LONG, head=HEAD)).kind

    assert [kind(host) for host in "abcabc"] == ["response"] * 3 + ["revisit"] * 3
    assert kind("d") == "response"
    assert [kind(host) for host in "bcd"] == ["revisit"] * 3
    assert kind("a") == "response", "it was known for the longest time"
    assert len(bodies._known) == 3


# --- forged by the owner of a folder, with fitting hashes


def forged(folder: Path, reference: str | None = None, **changes: Any) -> list[str]:
    """The problems of a folder whose second response refers elsewhere."""
    crawl = Crawl(folder)
    crawl.fetch(SITE, LONG)
    crawl.fetch("https://other.example", LONG)
    first, other = (each["id"] for each in lines_after(crawl)[1:])
    digest = read_member(to_member(NewRecord("response", URL, 1.5, LONG, HEAD)), 10_000).fields[
        "WARC-Payload-Digest"
    ]
    record = NewRecord("revisit", URL, START + 5, b"", HEAD, began=START + 5, digest=digest)
    record.request = asked_for(URL)
    dates = f"WARC-Refers-To-Date: {iso_date(START)}\r\n"
    record.fields = f"WARC-Refers-To: {first}\r\n"
    match reference:
        case "itself":
            record.fields = f"WARC-Refers-To: {record.id}\r\n"
        case "another site's":
            record.fields = f"WARC-Refers-To: {other}\r\n"
        case "a later one":
            record.fields = "WARC-Refers-To: <urn:uuid:0>\r\n"
        case "nothing":
            record.fields = ""
        case "another date":
            dates = f"WARC-Refers-To-Date: {iso_date(START + 1)}\r\n"
        case "a state":
            record.fields = f"WARC-Refers-To: state-{first}\r\n"
        case "a reference":
            record.fields += dates
            crawl.writer.add_line(crawl.writer.store(record))
            before = record.id
            record = NewRecord("revisit", URL, START + 6, b"", HEAD, began=START + 5, digest=digest)
            record.request = asked_for(URL)
            record.fields = f"WARC-Refers-To: {before}\r\n"
    record.fields += dates
    for name, value in changes.items():
        setattr(record, name, value)
    crawl.writer.add_line(crawl.writer.store(record))
    if reference == "a later one":
        later = NewRecord("response", URL, START + 6, LONG, HEAD, began=START + 5)
        later.id, later.request = "<urn:uuid:0>", asked_for(URL)
        crawl.writer.add_line(crawl.writer.store(later))
    crawl.close()
    return replay(folder).problems


def lines_after(crawl: Crawl) -> list[Any]:
    """The records that a run has until now."""
    crawl.writer.flush()
    return [each for each in lines_of(crawl.folder) if each["type"] == "record"]


def test_a_reference_to_an_earlier_body_is_no_problem(tmp_path: Path) -> None:
    assert forged(tmp_path / "honest") == []


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("itself", "the body that it refers to is another one"),
        ("another site's", "the body that it refers to is another one"),
        ("another date", "the body that it refers to is another one"),
        ("a reference", "the body that it refers to is another one"),
        ("a later one", "<urn:uuid:0> is missing"),
        ("a state", "not a WARC record"),
        ("nothing", "WARC-Refers-To"),
    ],
)
def test_a_reference_to_anything_else_is_a_problem(
    tmp_path: Path, reference: str, problem: str
) -> None:
    found, *more = forged(tmp_path / "forged", reference)
    assert problem in found
    assert all(reference == "a later one" or "no state follows" in each for each in more)


def test_a_reference_with_another_digest_is_a_problem(tmp_path: Path) -> None:
    (found,) = forged(tmp_path / "forged", digest="sha256:" + "0" * 64)
    assert "the body that it refers to is another one" in found


def test_the_date_of_a_reference_is_that_of_the_original() -> None:
    bodies = ArchivedBodies()
    first = bodies.refer(NewRecord("response", URL, 1.5, LONG, head=HEAD))
    bodies.refer(NewRecord("response", URL, 2.5, LONG, head=HEAD))
    third = bodies.refer(NewRecord("response", URL, 3.5, LONG, head=HEAD))
    fields = read_member(to_member(third), 10_000).fields
    assert (fields["WARC-Refers-To"], fields["WARC-Refers-To-Date"]) == (first.id, iso_date(1.5))
    assert fields["WARC-Date"] == iso_date(3.5)
