#!/usr/bin/env bash
# FastWARC returns the URL of a WARC 1.0 record in angle brackets, warcio without.
#
# Version: FastWARC 2.0.1, warcio 1.8.1 (PyPI); the archive is by Debian's wget 1.21.3.
# Source: WARC 1.0 writes WARC-Target-URI as "<" uri ">"; WARC 1.1 removed the brackets.
# Expected: both readers return the URL, which no other program writes in brackets.
# Behaviour: wget obeys WARC 1.0. warcio removes the brackets, FastWARC does not. Compared or joined
# by URL, an archive by wget has no robots.txt at all, and its origins begin with "<http:".
# Output:
#   warcio: http://127.0.0.1:PORT/robots.txt ends with /robots.txt: True
#   fastwarc: <http://127.0.0.1:PORT/robots.txt> ends with /robots.txt: False
source "$(dirname "$0")/common.sh"

debian 'wget=1.21.3-*'
pypi FastWARC==2.0.1 warcio==1.8.1
cd "$work"
"$python" - <<'PY' | sed -E 's/:[0-9]+\//:PORT\//' | confirm
import subprocess

from fastwarc.warc import ArchiveIterator as FastArchive
from loopback import serving
from warcio.archiveiterator import ArchiveIterator

with serving(lambda path: (200, {}, b"User-agent: *\nDisallow:\n")) as server:
    url = f"{server.url}/robots.txt"
    subprocess.run(["wget", "-q", "-O", "out", "--warc-file=archive", url], check=True)


def show(reader, urls):
    (found,) = {url for url in urls if "robots" in url}
    print(f"{reader}: {found} ends with /robots.txt: {found.endswith('/robots.txt')}")


with open("archive.warc.gz", "rb") as archive:
    names = [r.rec_headers.get_header("WARC-Target-URI") or "" for r in ArchiveIterator(archive)]
show("warcio", names)
with open("archive.warc.gz", "rb") as archive:
    names = [record.headers.get("WARC-Target-URI") or "" for record in FastArchive(archive)]
show("fastwarc", names)
PY
