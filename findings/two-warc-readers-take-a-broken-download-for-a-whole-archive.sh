#!/usr/bin/env bash
# Of an archive whose download broke off, two readers of WARC give what is there, and raise no error.
#
# Version: FastWARC 2.0.1, warcio 1.8.1 (PyPI), against Python's own gzip.
# Source: RFC 1952: a gzip member ends with its CRC and length. ISO 28500: Content-Length is the number of bytes of
# a record's block.
# Expected: an error at the place where the file ends, as with Python's gzip.
# Behaviour: where the file ends in the head of a record, both end there as behind a whole archive; where it ends in
# a body, both give a record that is shorter than its Content-Length.
# What follows: a study over archives counts those sites as absent, or reads the first half of a robots.txt for the
# whole of it.
# Output:
#   whole: gzip 3 records; fastwarc 3 records; warcio 3 records
#   ends in the head of the third record: gzip EOFError; fastwarc 2 records; warcio 2 records
#   ends in the body of the third record: gzip EOFError; fastwarc 3 records, 1 too short; warcio 3 records, 1 too short
source "$(dirname "$0")/common.sh"

pypi fastwarc==2.0.1 warcio==1.8.1
cd "$work"
"$python" - <<'PY' | confirm
import gzip
import random
from io import BytesIO

import fastwarc
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

SEED = random.Random(1)


def archive():
    """Three responses, and where each of them ends."""
    stream, ends = BytesIO(), []
    writer = WARCWriter(stream, gzip=True)
    for number in range(3):
        rules = "".join(f"Disallow: /{SEED.getrandbits(256):x}\n" for _ in range(50))
        response = f"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n{rules}".encode()
        url = f"https://{number}.example/robots.txt"
        writer.write_record(writer.create_warc_record(url, "response", payload=BytesIO(response)))
        ends.append(stream.tell())
    return stream.getvalue(), ends


def by_gzip(data):
    return [0] * gzip.decompress(data).count(b"WARC-Target-URI")


def by_fastwarc(data):
    records = fastwarc.ArchiveIterator(BytesIO(data), parse_http=False)
    return [int(each.headers["Content-Length"]) - len(each.reader.read()) for each in records]


def by_warcio(data):
    found = []
    for each in ArchiveIterator(BytesIO(data), no_record_parse=True):
        length = int(each.rec_headers.get_header("Content-Length"))
        found.append(length - len(each.raw_stream.read()))
    return found


def outcome(read, data):
    try:
        missing = read(data)
    except Exception as error:
        return type(error).__name__
    short = sum(map(bool, missing))
    return f"{len(missing)} records" + (f", {short} too short" if short else "")


data, (_, second, third) = archive()
cuts = {
    "whole": third,
    "ends in the head of the third record": second + 40,
    "ends in the body of the third record": (second + third) // 2,
}
for name, end in cuts.items():
    readers = {"gzip": by_gzip, "fastwarc": by_fastwarc, "warcio": by_warcio}
    print(f"{name}: " + "; ".join(f"{who} {outcome(read, data[:end])}" for who, read in readers.items()))
PY
