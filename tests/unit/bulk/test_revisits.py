"""Revisit records: the body is in another record, and no verdict is made without it."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.bulk import documents as documents_of
from scrapy_robotspec.bulk import warc
from scrapy_robotspec.bulk.documents import REVISIT, Document
from scrapy_robotspec.editions import EDITIONS
from tests.support.command_line import main
from tests.support.warc import response, write_warc
from tests.unit.bulk.test_run import rows
from tests.unit.bulk.test_warc import BODY, URL

OTHER = "https://b.example/robots.txt"


GZIP = [("Content-Encoding", "gzip")]


def digest_of(body: bytes) -> str:
    return f"sha1:{base64.b32encode(sha1(body).digest()).decode()}"


def original(body: bytes = BODY, **arguments: Any) -> dict[str, Any]:
    """The record that has the body."""
    return response(URL, body, **arguments)


def revisit(url: str = OTHER, status: int = 200, body: bytes = BODY) -> dict[str, Any]:
    """A record with the digest of a body instead of it."""
    digest = digest_of(body)
    return response(url, b"", status=status, kind="revisit", WARC_Payload_Digest=digest)


def bare() -> dict[str, Any]:
    """A revisit record without an HTTP message, as the format allows."""
    return revisit() | {"http_headers": None}


Make = Callable[[], dict[str, Any]]
KINDS: list[Make] = [revisit, lambda: revisit(status=304), bare]


def read(path: Path, records: Sequence[dict[str, Any]]) -> list[Document]:
    archive = write_warc(path / "x.warc.gz", records)
    return list(documents_of(str(archive), pytest.fail))


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    "records",
    [
        [],
        [original(b"another body")],
        [original(status=404)],
        [original(gzip.compress(BODY)[:-9], headers=GZIP, WARC_Payload_Digest=digest_of(BODY))],
        [original(WARC_Truncated="length")],
    ],
    ids=["none", "another", "no file", "undecoded", "cut"],
)
def test_without_the_whole_body_there_is_no_verdict(
    tmp_path: Path, make: Make, records: list[dict[str, Any]]
) -> None:
    for record in records:
        record["payload"].seek(0)
    found = read(tmp_path, [*records, make()])[-1]
    assert (found.body, found.error) == (None, REVISIT)
    assert {found.outcome(edition) for edition in EDITIONS.values()} == {"revisit"}


@pytest.mark.parametrize("make", KINDS)
def test_a_body_before_or_behind_is_found(tmp_path: Path, make: Make) -> None:
    before, _, behind = read(tmp_path, [make(), original(), make()])
    for found in (before, behind):
        assert (found.url, found.status, found.body, found.error) == (OTHER, 200, BODY, None)
        assert {found.outcome(edition) for edition in EDITIONS.values()} == {"successful"}


@pytest.mark.parametrize(("status", "outcome"), [(404, "unavailable"), (503, "unreachable")])
def test_a_status_decides_for_itself(tmp_path: Path, status: int, outcome: str) -> None:
    _, found = read(tmp_path, [original(), revisit(status=status)])
    assert found.status == status
    assert found.outcome(EDITIONS["google-2019"]) == outcome


def test_bodies_are_kept_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "_KEPT", 2 * len(BODY) - 1)
    other = BODY[::-1]
    records = [original(), original(), original(other), revisit(), revisit(body=other)]
    first, second = read(tmp_path, records)[-2:]
    assert (first.body, second.error) == (BODY, REVISIT)


def bulk(out: Path, *arguments: str) -> None:
    given = ["bulk", *arguments, "--tokens", "a,b", "--out", str(out), "--format", "csv"]
    assert main(given) == 0


def test_a_body_in_another_input_of_the_run_is_found(tmp_path: Path) -> None:
    """Over random distributions; the row is that of a record with its body."""
    chance = random.Random(7)
    folder, whole = tmp_path / "in", tmp_path / "whole.warc.gz"
    folder.mkdir()
    bodies = [b"User-agent: a\nDisallow: /%d\n" % number for number in range(20)]
    expected = []
    files: list[list[dict[str, Any]]] = [[] for _ in range(4)]
    for number, body in enumerate(bodies):
        chance.choice(files).append(original(body))
        for copy in range(2):
            url = f"https://h{number}-{copy}.example/robots.txt"
            chance.choice(files).append(revisit(url, chance.choice([200, 304]), body))
            expected.append(response(url, body))
    for number, records in enumerate(files):
        write_warc(folder / f"{number}.warc.gz", records)
    write_warc(whole, expected)
    bulk(tmp_path / "out", str(folder), "--jobs", "2")
    bulk(tmp_path / "one", str(whole))

    def told(out: Path) -> set[str]:
        each = [row for path in out.glob("*.csv") for row in rows(path)]
        return {
            json.dumps(row | {"source": ""}, sort_keys=True) for row in each if row["url"] != URL
        }

    assert told(tmp_path / "out") == told(tmp_path / "one")


def test_an_output_is_made_again_if_another_archive_changes_that_it_needs(tmp_path: Path) -> None:
    """And is kept if it needs none."""
    needs, has, free = (write_warc(tmp_path / f"{n}.warc.gz", []) for n in range(3))
    write_warc(needs, [revisit()])
    write_warc(free, [response(OTHER, BODY)])
    out = tmp_path / "out"
    given = [str(path) for path in (needs, has, free)]
    bulk(out, *given)
    first = {path.name: path.stat().st_ino for path in out.glob("*.csv")}
    bulk(out, *given)
    assert {path.name: path.stat().st_ino for path in out.glob("*.csv")} == first
    write_warc(has, [original()])
    bulk(out, *given)
    again = {path.name: path.stat().st_ino for path in out.glob("*.csv")}
    assert [name for name in first if first[name] == again[name]] == ["2.warc.gz.csv"]
    assert {row["outcome"] for row in rows(out / "0.warc.gz.csv")} == {"successful"}
