#!/usr/bin/env bash
# scrapy-webarchive archives a request for /search?q=1 as one for /search, and of two header lines the last.
#
# Version: scrapy-webarchive 0.5.3 with Scrapy 2.11.2 (PyPI), the newest that it can be installed with; read by warcio.
# Source: WARC 1.1, sections 6.3 and 6.4: a record of the type "request" or "response" with application/http holds the
# request or response as it was sent over the network, with its headers.
# Expected: request line and headers are those that the server saw and sent.
# Behaviour: the request line is written anew with the path alone, and there is no Host line. Of headers with several
# lines the last one is kept. Digests fit what was written, so no check complains.
# What follows: as evidence the archive denies a request that a rule for the query forbids, and a "noindex" or
# "no-store" on a line above another one. The URL in the record's own header is whole.
# Output:
#   requested: /search?q=robots&page=2
#   archived: /search, record for /search?q=robots&page=2
#   sent: X-Robots-Tag noindex | noarchive, Cache-Control no-store | max-age=60
#   archived: X-Robots-Tag noarchive, Cache-Control max-age=60
source "$(dirname "$0")/common.sh"

pypi scrapy-webarchive==0.5.3 scrapy==2.11.2 w3lib==2.3.1 twisted==24.11.0 protego==0.4.0 warcio==1.7.4 setuptools==79.0.1
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
import io
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import scrapy
from scrapy.crawler import CrawlerProcess
from warcio.archiveiterator import ArchiveIterator

LINES = {"X-Robots-Tag": ("noindex", "noarchive"), "Cache-Control": ("no-store", "max-age=60")}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        print(f"requested: {self.path}")
        self.send_response(200)
        for name, values in LINES.items():
            for value in values:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"Page")

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
Thread(target=server.serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{server.server_port}"


class Spider(scrapy.Spider):
    name = "example"
    start_urls = [f"{site}/search?q=robots&page=2"]

    def parse(self, response):
        pass


process = CrawlerProcess(
    {
        "EXTENSIONS": {"scrapy_webarchive.extensions.WaczExporter": 1},
        "SW_EXPORT_URI": f"{Path.cwd()}/example.wacz",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Spider)
process.start()
with zipfile.ZipFile("example.wacz") as archive:
    (warc,) = [name for name in archive.namelist() if name.startswith("archive/")]
    content = io.BytesIO(archive.read(warc))
archived = {}
for record in ArchiveIterator(content):
    if record.rec_type == "request":
        url = record.rec_headers.get_header("WARC-Target-URI").removeprefix(site)
        print(f"archived: {record.http_headers.statusline.split()[0]}, record for {url}")
    elif record.rec_type == "response":
        for name, value in record.http_headers.headers:
            archived.setdefault(name, []).append(value)


def shown(headers):
    return ", ".join(f"{name} {' | '.join(headers[name])}" for name in LINES)


print(f"sent: {shown(LINES)}")
print(f"archived: {shown(archived)}")
PY
