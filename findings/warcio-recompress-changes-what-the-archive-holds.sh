#!/usr/bin/env bash
# "warcio recompress" writes archived HTTP headers anew, so that the digests in the archive are wrong.
#
# Version: warcio 1.8.1 (PyPI); the archive is by Debian's wget 1.21.3.
# Source: the README of warcio: "recompress" compresses or normalizes each record on its own, to mend
# archives that are one gzip member, or none; RFC 9112, section 5: a blank behind a colon is optional.
# Expected: the same records byte for byte, in other gzip members; where one changes, digests that fit.
# Behaviour: the header lines of a response are parsed and written again: "Expires:..." gets a blank, a
# byte of ISO 8859-1 becomes the percent-encoded UTF-8 of its letter. Content-Length follows,
# WARC-Block-Digest does not, and "warcio check" of the same version reports it.
# What follows: such an archive looks forged, though nobody touched a body.
# Output:
#   wget: Cache-Control:max-age=600 | X-Served-By: caf\xe9 | check: passed
#   recompressed: Cache-Control: max-age=600 | X-Served-By: caf%C3%A9 | check: block digest failed
source "$(dirname "$0")/common.sh"

debian 'wget=1.21.3-*'
pypi warcio==1.8.1
cd "$work"
"$python" - <<'PY' | confirm
import gzip
import re
import socket
import subprocess
import threading

RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n"
    b"Cache-Control:max-age=600\r\nX-Served-By: caf\xe9\r\nConnection: close\r\n\r\nUser-agent: *\n"
)


def serve(listener):
    connection = listener.accept()[0]
    connection.recv(65536)
    connection.sendall(RESPONSE)
    connection.close()


def show(name, archive):
    data = gzip.decompress(open(archive, "rb").read())
    lines = re.findall(rb"(?:Cache-Control|X-Served-By).*", data)
    headers = " | ".join(str(line.strip())[2:-1] for line in lines)
    check = subprocess.run(["warcio", "check", archive], capture_output=True, text=True)
    failed = "block digest failed" in check.stdout
    print(f"{name}: {headers} | check: {'block digest failed' if failed else 'passed'}")


with socket.create_server(("127.0.0.1", 0)) as listener:
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/robots.txt"
    subprocess.run(["wget", "-q", "-O", "out", "--warc-file=archive", url], check=True)
show("wget", "archive.warc.gz")
subprocess.run(["warcio", "recompress", "archive.warc.gz", "again.warc.gz"], check=True, stdout=2)
show("recompressed", "again.warc.gz")
PY
