"""Fuzz target for evidence folders: hostile lines in a valid chain."""

from __future__ import annotations

import gzip
import re
import tempfile
from hashlib import sha256
from pathlib import Path

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.audit import Audit, Timeline
from scrapy_robotspec.evidence.log_lines import NO_HASH, dumps
from scrapy_robotspec.evidence.replay import replay

#: Between the lines of the log and the archive.
BREAK = b"\n\n"
RUN = "20260131T120000Z-1-abcdef00"
ASKED = ("https://example.com/private/x", "http://localhost/", "https://example.com/")
MOMENTS = (0.0, 1769860801.0, 1769947300.0)


def evidence(data: bytes) -> None:
    """Lines without hashes, an empty line, a record: nothing raises.

    Read as they are, and in a chain of hashes with a compressed record.
    """
    text, _, record = data.partition(BREAK)
    archive = gzip.compress(record, mtime=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for lines, stored in ((text, record), (sealed(text.split(b"\n"), archive), archive)):
            (folder / f"decisions-{RUN}.jsonl").write_bytes(lines)
            (folder / f"robots-{RUN}.warc.gz").write_bytes(stored)
            check_folder(folder)


def sealed(lines: list[bytes], archive: bytes) -> bytes:
    """A log of *lines* with valid hashes.

    In them ``DIGEST`` and ``LENGTH`` become those of the archive, which is one record.
    """
    digest, log = NO_HASH, []
    own = sha256(archive).hexdigest().encode()
    for line in lines:
        start = line.removesuffix(b"}").replace(b"DIGEST", own)
        start = start.replace(b"LENGTH", b"%d" % len(archive))
        digest = sha256(digest.encode() + start).hexdigest()
        log.append(b'%b,"hash":"%b"}\n' % (start, digest.encode()))
    return b"".join(log)


def check_folder(folder: Path) -> None:
    """Replay and audit end, and say what they found in JSON."""
    result = replay(folder)
    assert result.decisions == result.agree + result.differ + result.not_checkable
    assert bool(result.problem_count) == bool(result.problems)
    dumps(result.to_json())
    timeline = Timeline(folder)
    assert timeline.reading.problems == result.problems
    audit = Audit(timeline, ("examplebot",), 1.0)
    for url in ASKED:
        for moment in MOMENTS:
            audit.add(Request(moment, 1.0, True, url), Origin.of(url), url)
    audit.look_up()
    dumps(timeline.reading.to_json())
    assert audit.requests == len(ASKED) * len(MOMENTS)


def seeds() -> dict[str, bytes]:
    """Folders for the corpus, made from what the code writes today."""
    from tests.support.evidence import START, Crawl

    found = {}
    for name, body, status in (
        ("rules", b"User-agent: *\nDisallow: /private/\n", 200),
        ("missing", b"", 404),
        ("down", b"", 503),
    ):
        with tempfile.TemporaryDirectory() as folder:
            crawl = Crawl(Path(folder), RUN)
            crawl.fetch("https://example.com", body, status)
            if status != 503:
                crawl.decide("https://example.com/", START + 1)
                crawl.send(START + 1)
                crawl.decide("https://example.com/private/x", START + 1)
            crawl.close()
            (log,) = Path(folder).glob("*.jsonl")
            (archive,) = Path(folder).glob("*.gz")
            lines = [line[:-75] + b"}" for line in log.read_bytes().splitlines()]
            stored = archive.read_bytes()
        kept = [line for line in lines if b'"kind":"warcinfo"' not in line]
        at = int(re.findall(rb'"offset":(\d+)', kept[1])[0])
        place = rb'"offset":\d+,"length":\d+,"sha256":"\w+"'
        kept[1] = re.sub(place, b'"offset":0,"length":LENGTH,"sha256":"DIGEST"', kept[1])
        found[name] = b"\n".join(kept) + BREAK + gzip.decompress(stored[at:])
    return found
