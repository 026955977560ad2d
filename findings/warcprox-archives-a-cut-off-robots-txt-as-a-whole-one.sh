#!/usr/bin/env bash
# warcprox archives a robots.txt whose connection broke as a further visit of the complete file.
#
# Version: warcprox 2.13.1, warcio 1.8.1 (PyPI).
# Source: WARC 1.1, section 5.13: WARC-Truncated names why a record is not complete ("disconnect").
# Expected: a response record with WARC-Truncated, or none.
# Behaviour: 34 of 1,000 bytes that were announced arrive. The payload is what arrived, and the record
# says nothing. Where these bytes were archived before, it is a revisit of that record: a later reader
# finds a complete file with status 200.
# What follows: RFC 9309 counts such an answer as unreachable; an audit of the archive cannot see it,
# unless it compares the old Content-Length with the payload.
# Output:
#   response, status 200, Content-Length 34, payload of 34 bytes, WARC-Truncated: None
#   revisit, status 200, Content-Length 1000, the same payload, WARC-Truncated: None
source "$(dirname "$0")/common.sh"

pypi warcprox==2.13.1 warcio==1.8.1
cd "$work"
"$python" - <<'PY' | confirm
import http.client
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from loopback import serving
from warcio.archiveiterator import ArchiveIterator

BODY = b"User-agent: *\nDisallow: /private/\n"
#: warcprox refuses loopback, unless a subclass says otherwise.
PROGRAM = (
    "import warcprox.main, warcprox.warcproxy as w; "
    "w.WarcProxyHandler.allow_localhost = True; warcprox.main.main()"
)


def fetch(port, url):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with suppress(http.client.HTTPException):
        connection.request("GET", url)
        connection.getresponse().read()
    connection.close()


def answer(path):
    return 200, {"Content-Length": "1000"} if server.log[1:] else {}, BODY


with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
command = [sys.executable, "-c", PROGRAM, "-b", "127.0.0.1", "-p", str(port), "-d", "warcs"]
with serving(answer) as server, open("log", "wb") as log:
    process = subprocess.Popen(command, stdout=log, stderr=log)
    for _ in range(300):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        time.sleep(0.1)
    fetch(port, f"{server.url}/robots.txt")
    time.sleep(3)  # until its database knows the first payload
    fetch(port, f"{server.url}/robots.txt")
    time.sleep(3)
    process.terminate()
    process.wait(30)
digests = set()
for path in Path("warcs").iterdir():
    with path.open("rb") as archive:
        for record in ArchiveIterator(archive):
            if record.rec_type not in ("response", "revisit"):
                continue
            header, http_headers = record.rec_headers.get_header, record.http_headers
            digests.add(header("WARC-Payload-Digest"))
            size = len(record.content_stream().read())
            same = "the same payload" if record.rec_type == "revisit" else f"payload of {size} bytes"
            print(f"{record.rec_type}, status {http_headers.get_statuscode()}, "
                  f"Content-Length {http_headers.get_header('Content-Length')}, {same}, "
                  f"WARC-Truncated: {header('WARC-Truncated')}")
assert len(digests) == 1
PY
