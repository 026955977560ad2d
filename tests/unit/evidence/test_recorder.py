"""The recorder: a full disk loses nothing at first, and losses are counted."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.recorder import Recorder, RunWriter, new_run_name
from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.warc import NewRecord
from tests.support.evidence import START, lines_of, run_settings

HEADER = {"time": START, "software": "tests", "settings": run_settings().to_json()}
INFO = {"software": "tests", "robotspec-settings": dumps(HEADER["settings"])}


def decision(number: int) -> str:
    """A line that needs no archive."""
    url = f"https://example.com/{number}"
    line = {"type": "decision", "number": number + 1, "time": START, "stage": "request"}
    said = {"allowed": True, "reason": "dont_obey_robotstxt", "edition": "google-2019"}
    return json.dumps({**line, "url": url, "tokens": [], **said}, separators=(",", ":"))


def new_record() -> NewRecord:
    """A record of 100 bytes."""
    return NewRecord("resource", "https://example.com/", START, b"x" * 100)


def recorder_in(folder: Path) -> Recorder:
    return Recorder(RunWriter(folder, new_run_name(START), HEADER, INFO))


def test_a_process_that_is_killed_at_once_leaves_its_first_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an audit knows of no crawl that may have lost its last lines."""
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.WRITE_EVERY", 60.0)
    recorder = recorder_in(tmp_path)
    recorder.open()
    assert [line["type"] for line in lines_of(tmp_path)] == ["run", "record"]
    recorder.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are written a hundred times a second."""
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.WRITE_EVERY", 0.01)


def wait_until(met: Callable[[], object]) -> None:
    """Return once *met* is true."""
    limit = time.monotonic() + 20
    while not met():
        assert time.monotonic() < limit
        time.sleep(0.01)


class Disk:
    """The module ``os``, whose writes fail while the disk is full."""

    def __init__(self, room: int) -> None:
        self.room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, fd: int, data: Any) -> int:
        """Write what there is room for."""
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(fd, data[: self.room])
        self.room -= written
        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk with room for 1,000 bytes."""
    disk = Disk(1000)
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.os", disk)
    return disk


def test_a_full_disk_loses_nothing_once_there_is_room_again(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = recorder_in(tmp_path)
    recorder.open()
    for number in range(100):
        recorder.add_line(decision, number)
        recorder.add_record(new_record())
    wait_until(lambda: caplog.records)
    time.sleep(0.1)
    disk.room = 10**9
    wait_until(lambda: replay(tmp_path).decisions == 100)
    recorder.close()
    result = replay(tmp_path)
    assert (result.decisions, result.problems, result.notes) == (100, [], [])
    assert len(caplog.records) == 1
    assert "No space left on device" in caplog.text
    assert "ROBOTSPEC_EVIDENCE" in caplog.text


def test_a_disk_that_is_full_again_is_one_more_error(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = recorder_in(tmp_path)
    recorder.open()
    for number, errors in enumerate((1, 2)):
        disk.room = 0
        recorder.add_line(decision, number)
        wait_until(lambda errors=errors: len(caplog.records) == errors)  # type: ignore[misc]
        disk.room = 10**9
        wait_until(lambda number=number: replay(tmp_path).decisions > number)  # type: ignore[misc]
    recorder.close()


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_clock_that_is_set_is_noted_between_the_lines_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    clock = [START - time.monotonic()]
    own = SimpleNamespace(time=lambda: time.monotonic() + clock[0], monotonic=time.monotonic)
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.time", own)
    recorder = recorder_in(tmp_path)
    recorder.open()
    recorder.add_line(decision, 0)
    wait_until(lambda: replay(tmp_path).decisions == 1)
    recorder.add_line(decision, 1)
    clock[0] += jump
    recorder.add_line(decision, 2)
    clock[0] -= jump
    recorder.close()
    result = replay(tmp_path)
    assert result.problems == []
    for note, line, seconds in zip(result.notes, (5, 7), (jump, -jump), strict=True):
        assert f"line {line}: the clock was set by {seconds:+g} s" in note
    assert [each["line"] for each in result.runs[0].jumps] == [5, 7]


def test_lost_lines_are_counted_in_the_log(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.MAX_QUEUED", 20_000)
    recorder = recorder_in(tmp_path)
    recorder.open()
    for number in range(1000):
        recorder.add_line(decision, number)
    disk.room = 10**9
    recorder.close()
    result = replay(tmp_path)
    assert recorder.lost > 0
    assert result.decisions + recorder.lost == 1000
    assert result.problems
    assert any(f"{recorder.lost} lines and records were lost" in each for each in result.problems)


def test_what_is_written_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what waits for the disk is bounded."""
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.MAX_QUEUED", 20_000)
    recorder = recorder_in(tmp_path)
    recorder.open()
    for last in range(10, 60, 10):  # more than a bound together
        for number in range(last - 10, last):
            recorder.add_line(decision, number)
        wait_until(lambda last=last: replay(tmp_path).decisions == last)  # type: ignore[misc]
    recorder.close()
    assert recorder.lost == 0


def test_an_item_that_cannot_be_made_is_lost_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = recorder_in(tmp_path)
    recorder.open()
    for number in range(3):
        recorder.add_line(decision, number)
        recorder.add_record(NewRecord("resource", "\ud800", START, b""))
    recorder.close()
    result = replay(tmp_path)
    assert (result.decisions, result.differ, recorder.lost) == (3, 0, 3)
    assert any("3 lines and records were lost" in each for each in result.problems)
    assert len(caplog.records) == 1
    assert "UnicodeEncodeError" in caplog.text


def test_a_disk_that_stays_full_ends_with_the_crawl(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    """No hang, and what is on the disk can be read. The last ERROR says that some is not."""
    disk.room = 8000
    recorder = recorder_in(tmp_path)
    recorder.open()
    for number in range(100):
        recorder.add_line(decision, number)
    wait_until(lambda: caplog.records)
    recorder.close()
    result = replay(tmp_path)
    assert result.problems == []
    assert "more if its disk was full" in result.notes[-1]
    first, last = (each.getMessage() for each in caplog.records)
    assert "The crawl goes on" in first
    assert "its last lines and records could not be written" in last
    assert result.decisions < 100


@pytest.mark.parametrize("kind", ["robots", "decisions"])
def test_files_deleted_during_a_crawl_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """Not written on into the void; nor is the end of the crawl silent."""
    recorder = recorder_in(tmp_path)
    recorder.open()
    recorder.add_record(new_record())
    wait_until(lambda: [bool(each.stat().st_size) for each in tmp_path.iterdir()] == [True, True])
    (deleted,) = tmp_path.glob(f"{kind}-*")
    deleted.unlink()
    wait_until(lambda: caplog.records)
    recorder.add_line(decision, 1)
    recorder.close()
    first, last = (each.getMessage() for each in caplog.records)
    assert f"No such file or directory: '{deleted}'" in first
    assert "start the crawl again" in first
    assert str(deleted) in last
