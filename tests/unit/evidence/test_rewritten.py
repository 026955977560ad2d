"""An archive that another tool wrote again: the same records in other bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fastwarc.stream_io import ZstdWriter

from scrapy_robotspec.evidence.audit import Timeline
from scrapy_robotspec.evidence.replay import replay
from tests.support.evidence import log_of, make_evidence

WORDS = "was written again by another tool: give {} of the crawl; what follows it proves nothing"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Evidence of a small crawl."""
    make_evidence(tmp_path / "evidence")
    return tmp_path / "evidence"


def archive_of(folder: Path) -> Path:
    (archive,) = folder.glob("robots-*.warc.gz")
    return archive


def recompressed(archive: Path) -> None:
    """By the command of warcio."""
    written = archive.with_name("again.gz")
    words = ["from warcio.cli import main; main()", "recompress", str(archive), str(written)]
    subprocess.run([sys.executable, "-c", *words], check=True, capture_output=True, timeout=180)
    written.replace(archive)


def gzipped(archive: Path) -> None:
    """As a whole, as gunzip and gzip do it."""
    archive.write_bytes(gzip.compress(gzip.decompress(archive.read_bytes())))


def unpacked(archive: Path) -> None:
    """Under the same name."""
    archive.write_bytes(gzip.decompress(archive.read_bytes()))


def gunzipped(archive: Path) -> None:
    """Under the name that gunzip gives it."""
    archive.with_suffix("").write_bytes(gzip.decompress(archive.read_bytes()))
    archive.unlink()


def by_zstd(archive: Path) -> None:
    """Under the name of such a file."""
    with archive.with_suffix(".zst").open("wb") as file, ZstdWriter(file) as writer:
        writer.write(gzip.decompress(archive.read_bytes()))
    archive.unlink()


@pytest.mark.parametrize("write_again", [recompressed, gzipped, unpacked, gunzipped, by_zstd])
def test_another_tool_is_named_once(folder: Path, write_again: Callable[[Path], None]) -> None:
    """Behind the first record that does not fit; replay and audit end there."""
    archive = archive_of(folder)
    write_again(archive)
    (name,) = (path.name for path in folder.glob("robots-*"))
    first, second = replay(folder).problems
    assert f"line 2: {archive.name}: record <urn:uuid:" in first
    assert second == f"{log_of(folder).name}: line 2: {name} {WORDS.format(archive.name)}"
    assert Timeline(folder).reading.problems == [first, second]


def test_damage_and_other_records_are_not_another_tool(folder: Path) -> None:
    """Whatever byte of the first record is changed; nor is an archive with other ids."""
    archive = archive_of(folder)
    data = archive.read_bytes()
    for at in range(0, 700, 7):
        archive.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        problems = replay(folder).problems
        named = [each for each in problems if "another tool" in each]
        if named:  # the change is in what gzip ignores
            assert gzip.decompress(archive.read_bytes()) == gzip.decompress(data), at
    plain = gzip.decompress(data)
    for other in (plain.replace(b"<urn:uuid:", b"<urn:uuix:"), b"", plain[5:]):
        archive.write_bytes(gzip.compress(other))
        assert not any("another tool" in each for each in replay(folder).problems)
