"""RunWriter: new files alone, whose log names each byte of the archive."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from scrapy_robotspec.evidence.recorder import AppendFile, RunWriter, new_run_name
from scrapy_robotspec.evidence.warc import read_member
from tests.support.evidence import START, lines_of, make_evidence, run_settings

HEADER = {"time": START, "software": "tests", "settings": run_settings().to_json()}


def test_a_file_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    run = new_run_name(START)
    RunWriter(tmp_path, run, HEADER, {}).flush()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FileExistsError):
        RunWriter(tmp_path, run, HEADER, {})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert new_run_name(START) != new_run_name(START)


def test_each_byte_of_the_archive_is_in_one_line(tmp_path: Path) -> None:
    make_evidence(tmp_path)
    (archive,) = tmp_path.glob("robots-*.warc.gz")
    data, end, ids = archive.read_bytes(), 0, set()
    for line in lines_of(tmp_path):
        if line["type"] == "record":
            assert line["offset"] == end
            end += line["length"]
            member = data[line["offset"] : end]
            assert sha256(member).hexdigest() == line["sha256"]
            found = read_member(member, 1000)
            ids |= {line["id"], found.fields["WARC-Record-ID"]}
    assert end == len(data)
    assert len(ids) == 4, "the first record and three responses"


def test_what_a_disk_did_not_take_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system call may write a part, or nothing."""
    import os

    write, sizes = os.write, iter([3, 0, 2, 99])

    def part(fd: int, data: bytearray) -> int:
        size = next(sizes)
        if not size:
            raise OSError("full")
        return write(fd, data[:size])

    file = AppendFile(tmp_path / "new")
    file.append(b"0123456789")
    monkeypatch.setattr("scrapy_robotspec.evidence.recorder.os.write", part)
    with pytest.raises(OSError, match="full"):
        file.flush()
    assert (tmp_path / "new").read_bytes() == b"012"
    file.flush()
    monkeypatch.undo()
    assert ((tmp_path / "new").read_bytes(), file.size) == (b"0123456789", 10)
