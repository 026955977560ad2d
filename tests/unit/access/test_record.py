"""Records as bytes: read back equal, or as None."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access import record as record_module
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord

times = st.floats(min_value=-1e12, max_value=1e12)
lines = st.text(max_size=20)
hosts = st.ip_addresses().map(str) | st.text("abc.-", min_size=1, max_size=20)
origins = st.builds(Origin, st.sampled_from(["http", "https", "ftp"]), hosts, st.integers(0, 65535))
answers = st.fixed_dictionaries(
    {
        "meaning": st.sampled_from([Meaning.RULES, Meaning.ALLOW, Meaning.DISALLOW]),
        "status": st.integers(-(10**9), 10**9),
        "body": st.binary(max_size=2000),
        "truncated": st.booleans(),
        "hops": st.lists(
            st.builds(Hop, lines, st.integers(300, 399), st.none() | lines), max_size=6
        ).map(tuple),
        "fetched_at": times,
        "expires_at": times,
        "content_type": lines,
        "redirect_error": st.none() | lines,
    }
)
failures = st.fixed_dictionaries(
    {
        "unreachable_since": times,
        "failed_at": times,
        "failures": st.integers(1, 10**9),
        "unanswered": st.integers(0, 10**9),
        "next_attempt": times,
        "failure": lines,
        "temporary": st.integers(0, 10**9),
        "failure_status": st.none() | st.integers(-(10**9), 10**9),
        "pages_answered_at": st.none() | times,
    }
)
records = st.builds(
    lambda origin, answer, failure: RobotsRecord(origin, **answer, **failure),
    origins,
    st.just({}) | answers,
    st.just({}) | failures,
)

RECORD = RobotsRecord(
    Origin("http", "example.com", 80),
    meaning=Meaning.RULES,
    status=200,
    body=b"User-agent: *\nDisallow: /\n" * 40,
    fetched_at=1000.0,
    expires_at=2000.0,
)


@given(records)
def test_every_field_is_stored(record: RobotsRecord) -> None:
    assert RobotsRecord.from_bytes(record.to_bytes()) == record
    assert RobotsRecord.from_bytes(record.to_bytes(), record.origin) == record


@given(st.binary())
def test_garbage_is_no_record(data: bytes) -> None:
    """Also where it begins like a record."""
    assert RobotsRecord.from_bytes(data) is None
    assert RobotsRecord.from_bytes(RECORD.to_bytes()[:9] + data) is None


@given(st.data())
def test_a_torn_or_changed_record_is_no_record(data: st.DataObject) -> None:
    """Whole or absent: no cut and no flipped bit goes unnoticed."""
    stored = RECORD.to_bytes()
    cut = data.draw(st.integers(0, len(stored) - 1))
    assert RobotsRecord.from_bytes(stored[:cut]) is None
    changed = bytearray(stored)
    changed[cut] ^= data.draw(st.integers(1, 255))
    assert RobotsRecord.from_bytes(bytes(changed)) is None


HEADER = {
    "origin": ["http", "example.com", 80],
    "meaning": "rules",
    "status": 200,
    "fetched_at": 1,
    "expires_at": 2,
}


@pytest.mark.parametrize(
    "change",
    [
        {"origin": ["gopher", "example.com", 80]},
        {"origin": ["http", "example.com", "80"]},
        {"origin": ["http", "example.com"]},
        {"origin": ["http", "example:]com", 80]},
        {"origin": ["http", "example.com", -1]},
        {"origin": 7},
        {"origin": None},
        {"meaning": "unreachable"},
        {"meaning": "maybe"},
        {"meaning": None},
        {"status": "200"},
        {"status": True},
        {"status": None},
        {"fetched_at": "now"},
        {"fetched_at": 10**400},
        {"expires_at": None},
        {"failures": -1},
        {"unanswered": -(10**400)},
        {"hops": 5},
        {"hops": [["http://a/"]]},
        {"hops": [["http://a/", 301]]},
        {"hops": [["http://a/", 301, None, 1]]},
        {"truncated": 1},
        {"unreachable_since": 5},
        {"unreachable_since": 5, "failed_at": 6, "failures": 1},
    ],
    ids=json.dumps,
)
def test_a_header_of_other_types_is_no_record(change: dict[str, Any]) -> None:
    """Nothing that is written into a shared store makes the policy raise."""
    assert RobotsRecord.from_bytes(_framed(json.dumps(HEADER))) is not None
    header = {k: v for k, v in {**HEADER, **change}.items() if v is not None}
    assert RobotsRecord.from_bytes(_framed(json.dumps(header))) is None


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_times_without_an_end_are_no_times(value: str) -> None:
    """A copy that is fresh for ever cannot be stored."""
    text = json.dumps({**HEADER, "expires_at": 123456789})
    assert RobotsRecord.from_bytes(_framed(text)) is not None
    assert RobotsRecord.from_bytes(_framed(text.replace("123456789", value))) is None


def test_a_record_that_unpacks_to_more_than_the_bound_is_no_record() -> None:
    """A bomb in a shared store is not unpacked."""
    body = b"a" * 2**26
    assert RobotsRecord.from_bytes(_framed(json.dumps(HEADER), body)) is None
    assert RobotsRecord.from_bytes(_framed(json.dumps(HEADER), body[1000:])) is not None


def test_records_are_compressed() -> None:
    """A hundred thousand origins have to fit into memory."""
    assert len(RECORD.to_bytes()) < len(RECORD.body) / 4


def _framed(text: str, body: bytes = b"") -> bytes:
    return record_module.MAGIC + zlib.compress(text.encode() + b"\n" + body)
