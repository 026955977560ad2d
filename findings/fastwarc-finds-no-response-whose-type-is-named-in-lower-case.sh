#!/usr/bin/env bash
# FastWARC finds no response in an archive that writes "warc-type", and none at all with "content-length".
#
# Version: FastWARC 2.0.1 against warcio 1.8.1 (PyPI).
# Source: ISO 28500, WARC 1.0 and 1.1, section 4: names of fields count in any case. Rust's crate warc writes them in
# lower case.
# Expected: the same records in each spelling.
# Behaviour: FastWARC's table of a record's fields is read in any case; the type and the length of a record are found
# in the standard's spelling alone. Without the type, a record passes a filter for responses in silence, and its HTTP
# headers stay in the body. Without the length, the archive ends with an error.
# What follows: "no robots.txt in this archive" is what a reader reports of an archive full of them.
# Output:
#   as the standard writes it: warcio 1 response, FastWARC 1 response
#   warc-type: warcio 1 response, FastWARC 0 responses
#   warc-target-uri: warcio 1 response, FastWARC 1 response
#   content-length: warcio 1 response, FastWARC OSError: Invalid WARC header
source "$(dirname "$0")/common.sh"

pypi FastWARC==2.0.1 warcio==1.8.1
"$python" - <<'PY' | confirm
from io import BytesIO

from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as Warcio

ROBOTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /private/\n"
FIELDS = {
    "WARC-Type": "response",
    "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000001>",
    "WARC-Date": "2026-11-29T12:00:00Z",
    "WARC-Target-URI": "https://example.com/robots.txt",
    "Content-Type": "application/http; msgtype=response",
    "Content-Length": str(len(ROBOTS)),
}


def archive(lower):
    head = "".join(f"{name.lower() if name == lower else name}: {value}\r\n" for name, value in FIELDS.items())
    return BytesIO(f"WARC/1.1\r\n{head}\r\n".encode() + ROBOTS + b"\r\n\r\n")


def with_warcio(file):
    return [record for record in Warcio(file) if record.rec_type == "response"]


def with_fastwarc(file):
    return list(ArchiveIterator(file, record_types=WarcRecordType.response))


def count(find, file):
    try:
        found = len(find(file))
    except OSError as error:
        return f"OSError: {error}"
    return f"{found} response{'s' * (found != 1)}"


for name in (None, "WARC-Type", "WARC-Target-URI", "Content-Length"):
    shown = name.lower() if name else "as the standard writes it"
    print(f"{shown}: warcio {count(with_warcio, archive(name))}, FastWARC {count(with_fastwarc, archive(name))}")
PY
