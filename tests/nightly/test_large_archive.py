"""An archive of more than 4 GiB: reading it takes twenty seconds."""

from __future__ import annotations

from pathlib import Path

from tests.unit.bulk.test_plain_warc import archive, bodies, places, problems, url
from tests.unit.bulk.test_warc import read


def test_places_beyond_4_gib_are_read(tmp_path: Path) -> None:
    path, size = tmp_path / "x.warc", 5 << 30
    tail = archive(path).read_bytes()
    with path.open("wb") as file:
        file.write(
            b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://x.example/film\r\n"
        )
        file.write(b"Content-Length: %d\r\n\r\n" % size)
        file.seek(size, 1)  # the file system stores no zeros
        file.write(b"\r\n\r\n" + tail)
    found = read(path)
    assert list(bodies(found)) == [url(n) for n in range(12)]
    assert problems(found) == []
    assert min(places(path).values()) > size
