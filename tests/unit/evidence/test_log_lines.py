"""Log lines: a chain of any objects is read back, up to the first change."""

from __future__ import annotations

import io
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.evidence.log_lines import (
    MAX_LINE,
    NO_HASH,
    EvidenceError,
    Members,
    check_members,
    dumps,
    read_lines,
    seal,
)

OBJECT = st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text())


def chain(objects: list[dict[str, Any]]) -> bytes:
    digest, lines = NO_HASH, b""
    for values in objects:
        line, digest = seal(dumps({"type": "other", **values}), digest)
        lines += line
    return lines


def values_of(log: bytes | bytearray) -> list[Members]:
    return [line.values for line in read_lines(io.BytesIO(log))]


@given(st.lists(OBJECT))
def test_any_objects_are_read_back(objects: list[dict[str, Any]]) -> None:
    assert values_of(chain(objects)) == [{"type": "other", **each} for each in objects]


@given(st.lists(OBJECT, min_size=1), st.data())
def test_a_changed_byte_ends_the_log_with_an_error(
    objects: list[dict[str, Any]], data: st.DataObject
) -> None:
    log = bytearray(chain(objects))
    at = data.draw(st.integers(0, len(log) - 2))  # but for the end of the last line
    number = log[:at].count(b"\n") + 1
    log[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(EvidenceError, match=f"line {number} is not as it was written"):
        values_of(log)


@given(st.lists(OBJECT, min_size=1), st.data())
def test_a_torn_last_line_ends_the_log(objects: list[dict[str, Any]], data: st.DataObject) -> None:
    log, before = chain(objects), chain(objects[:-1])
    at = data.draw(st.integers(len(before), len(log) - 2))
    assert values_of(log[:at]) == [{"type": "other", **each} for each in objects[:-1]]


def test_a_line_has_a_bound() -> None:
    with pytest.raises(ValueError, match="a log line of"):
        seal(dumps({"type": "x" * MAX_LINE}), NO_HASH)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"type": "gap", "time": 1.0, "lost": 1}, ""),
        ({"type": "gap", "time": 1.0, "lost": -1}, "lost of a gap has a wrong value"),
        ({"type": "gap", "time": -1.0, "lost": 1}, "time of a gap has a wrong value"),
        ({"type": "gap", "time": True, "lost": 1}, "time of a gap has a wrong value"),
        ({"type": "gap", "lost": 1}, "time of a gap has a wrong value"),
        ({"type": "sent", "time": 1, "decision": 1, "status": None, "seconds": 0}, ""),
        ({"type": "other"}, "it has no type that is known"),
    ],
)
def test_members_of_other_kinds_are_a_problem(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(EvidenceError, match=problem) if problem else nullcontext():
        check_members(values)
