#!/usr/bin/env bash
# httpx and warcio return the first part of a robots.txt whose gzip has two members, and no error.
#
# Version: httpx 0.28.1 and warcio 1.8.1, against requests 2.34.2 and aiohttp 3.14.5 (PyPI).
# Source: RFC 9110, section 8.4.1.3: the coding gzip is the format of RFC 1952, whose section 2.2 has a series of
# members in a file; a .gz that was appended to, or joined of several, has more than one.
# Expected: the whole file, as from gzip, or an error.
# Behaviour: the decoder stops at the end of the first member, and the rest is dropped. warcio reads an archive of
# many members so rightly, and the body within a record not.
# What follows: the crawl requests what the last lines disallow; the archive contains the file, and its reader does
# not show them.
# Output:
#   gzip: 3 lines
#   requests: 3 lines
#   aiohttp: 3 lines
#   httpx: 2 lines
#   warcio: 2 lines
source "$(dirname "$0")/common.sh"

pypi httpx==0.28.1 warcio==1.8.1 requests==2.34.2 aiohttp==3.14.5
cd "$work"
"$python" - <<'PY' | confirm
import asyncio
import gzip
import io

import aiohttp
import httpx
import requests
from loopback import serving
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

BODY = gzip.compress(b"User-agent: *\nDisallow: /cart/\n") + gzip.compress(b"Disallow: /private/\n")
HEADERS = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}


async def aiohttp_get(url):
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.read()


def archived(url):
    archive = io.BytesIO()
    writer = WARCWriter(archive, gzip=True)
    http = StatusAndHeaders("200 OK", list(HEADERS.items()), protocol="HTTP/1.1")
    record = writer.create_warc_record(url, "response", payload=io.BytesIO(BODY), http_headers=http)
    writer.write_record(record)
    archive.seek(0)
    return next(iter(ArchiveIterator(archive))).content_stream().read()


with serving(lambda path: (200, HEADERS, BODY)) as server:
    url = f"{server.url}/robots.txt"
    for name, body in (
        ("gzip", gzip.decompress(BODY)),
        ("requests", requests.get(url).content),
        ("aiohttp", asyncio.run(aiohttp_get(url))),
        ("httpx", httpx.get(url).content),
        ("warcio", archived(url)),
    ):
        print(f"{name}: {len(body.splitlines())} lines")
PY
