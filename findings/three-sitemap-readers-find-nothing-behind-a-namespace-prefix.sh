#!/usr/bin/env bash
# Crawlee, in Python and in JavaScript, and sitemap.js find no URL in a sitemap as Python's own XML library writes it.
#
# Version: crawlee 1.11.0, against Scrapy 2.19.0 (PyPI); @crawlee/utils 3.18.1 and sitemap 9.0.1 (npm).
# Source: Namespaces in XML 1.0, section 2: a name is its namespace and its local part, the prefix is a stand-in;
# the sitemap protocol defines names, and no prefix. ElementTree writes "ns0:" unless a prefix is registered.
# Expected: the same URLs as from the sitemap with a default namespace, or an error.
# Behaviour: the three compare names as they are written. A sitemap with "ns0:url" has no entry for them, and the
# load is a success; sitemap.js alone logs a tag that it does not know.
# What follows: a script that removes a URL with ElementTree takes all of them from these crawlers; others go on.
# Output:
#   <urlset xmlns=…>: Scrapy 2 URLs, crawlee 2, @crawlee/utils 2, sitemap 2
#   <ns0:urlset xmlns:ns0=…>: Scrapy 2 URLs, crawlee 0, @crawlee/utils 0, sitemap 0
source "$(dirname "$0")/common.sh"

npm_packages --omit=optional @crawlee/utils@3.18.1 sitemap@9.0.1
pypi 'crawlee[httpx,parsel]==1.11.0' scrapy==2.19.0
cd "$work"
cat >read.mjs <<'JS'
import { createReadStream } from 'node:fs';
import { Sitemap } from '@crawlee/utils';
import { parseSitemap } from 'sitemap';

console.log = console.warn = console.error = () => {};
const [url, file] = process.argv.slice(2);
const counts = [(await Sitemap.load(url)).urls.length, (await parseSitemap(createReadStream(file))).length];
process.stdout.write(JSON.stringify(counts), () => process.exit());
JS
"$python" - <<'PY' 2>"$work/errors" | confirm
import asyncio
import json
import logging
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from crawlee.http_clients import HttpxHttpClient
from crawlee.request_loaders import SitemapRequestLoader
from loopback import serving
from scrapy.utils.sitemap import Sitemap as ScrapySitemap

logging.disable(logging.CRITICAL)
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
files = {}


async def requests(url):
    loader = SitemapRequestLoader([url], HttpxHttpClient())
    found = []
    while not await loader.is_finished():
        if request := await loader.fetch_next_request():
            found.append(request.url)
            await loader.mark_request_as_handled(request)
    return found


with serving(lambda path: (200, {"Content-Type": "application/xml"}, files[path])) as server:
    urls = "".join(f"<url><loc>{server.url}/{name}</loc></url>" for name in "ab")
    plain = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NAMESPACE}">{urls}</urlset>'
    files["/plain.xml"] = plain.encode()
    files["/prefix.xml"] = ElementTree.tostring(ElementTree.fromstring(plain), encoding="UTF-8")
    for name, path in (("<urlset xmlns=…>", "/plain.xml"), ("<ns0:urlset xmlns:ns0=…>", "/prefix.xml")):
        url = server.url + path
        Path("map.xml").write_bytes(files[path])
        by_crawlee = asyncio.run(requests(url))
        output = subprocess.run(["node", "read.mjs", url, "map.xml"], check=True, capture_output=True).stdout
        by_js, by_sitemap = json.loads(output)
        print(
            f"{name}: Scrapy {len(list(ScrapySitemap(files[path])))} URLs,"
            f" crawlee {len(by_crawlee)}, @crawlee/utils {by_js}, sitemap {by_sitemap}"
        )
PY
