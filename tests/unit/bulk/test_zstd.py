"""WARC files that are compressed with zstd: by record, as a whole, with a dictionary."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from fastwarc.stream_io import ZstdWriter, zstd_train_dictionary_from_samples

from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs import find_inputs
from tests.support.warc import response, write_warc
from tests.unit.bulk.test_warc import Problem, read

FRAME = b"\x28\xb5\x2f\xfd"
BODIES = {
    f"https://{number}.example/robots.txt": b"User-agent: *\nDisallow: /%d\n" % number * 20
    for number in range(12)
}


def packed(pieces: list[bytes], dictionary: bytes | None = None) -> bytes:
    """Pieces as a frame each, behind the frame of their dictionary."""
    frames = []
    for piece in pieces:
        file = io.BytesIO()
        with ZstdWriter(file, dictionary=dictionary) as writer:
            writer.write(piece)
        frames.append(file.getvalue())
    first, *others = frames
    size = 8 + int.from_bytes(first[4:8], "little") if dictionary else 0
    return first + b"".join(each[size:] for each in others)


@pytest.fixture(params=["records", "one stream", "dictionary"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """An archive of 12 sites."""
    records = [response(url, body) for url, body in BODIES.items()]
    plain = write_warc(tmp_path / "x.warc", records, compressed=False).read_bytes()
    begins = [found.start() for found in re.finditer(rb"WARC/1\.0\r\n", plain)]
    pieces = [plain[start:end] for start, end in pairwise([*begins, len(plain)])]
    path = tmp_path / "x.warc.zst"
    if request.param == "one stream":
        path.write_bytes(packed([plain]))
    elif request.param == "records":
        path.write_bytes(packed(pieces))
    else:
        path.write_bytes(packed(pieces, zstd_train_dictionary_from_samples(pieces * 20, 2000)))
    (tmp_path / "x.warc").unlink()
    return path


def test_zstd_is_read(path: Path) -> None:
    assert {each.url: each.body for each in read(path) if isinstance(each, Document)} == BODIES


def test_such_a_file_is_an_input_by_itself_and_in_a_folder(path: Path) -> None:
    for name in (path, path.parent):
        (found,), ignored = find_inputs([str(name)])
        assert (found.name, found.files, ignored) == ("x.warc.zst", (str(path),), 0)
        assert {each.url: each.body for each in found.read(pytest.fail)} == BODIES


def problems(path: Path) -> list[str]:
    """All that is reported."""
    return [each.message for each in read(path) if isinstance(each, Problem)]


def test_damage_ends_such_an_archive_and_is_named(path: Path) -> None:
    """Frames behind it may need the dictionary at its beginning."""
    data = path.read_bytes()
    words = "is damaged: nothing is read from there on"
    for at in range(4, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:at])
        if data[at : at + len(FRAME)] != FRAME:  # nothing is cut between two frames
            (problem,) = problems(path)
            assert problem.endswith(words), at
            sound = [each for each in read(path) if isinstance(each, Document) and not each.error]
            assert {each.url: each.body for each in sound}.items() <= BODIES.items()
        path.write_bytes(data[:at] + b"\x99" * 9 + data[at + 9 :])  # frames need no checksum
        assert [each for each in problems(path) if not each.endswith(words)] == []
