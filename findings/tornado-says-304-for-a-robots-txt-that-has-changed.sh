#!/usr/bin/env bash
# Tornado gives a new robots.txt the ETag of the old one, and tells each crawler that has the old one that it is in force.
#
# Version: tornado 6.6.1 (PyPI), its StaticFileHandler.
# Source: RFC 9110, section 8.8.3: an ETag tells representations of one resource apart; Tornado's docstrings: the ETag
# is the version of the file, a hash of its contents, and versions, made for static_url(), are kept.
# Expected: a file that is replaced while the server runs has another ETag; or, from a cache, the old contents.
# Behaviour: contents and Last-Modified are those of the disk at each request, and the hash is that of the first one: it
# is computed once for a path, and kept until the process ends. A match of If-None-Match outweighs the date.
# What follows: a crawler without a copy obeys the new rules, and one that checks its copy keeps the old rules for as
# long as the server runs. Whoever looks at the file in a fresh browser sees that all is well.
# Output:
#   before: 200, Disallow: /private/
#   after, no validator: 200, Disallow: /, a later Last-Modified: True, the same ETag: True
#   after, If-Modified-Since: 200, Disallow: /
#   after, If-None-Match: 304
#   after, If-None-Match and If-Modified-Since: 304
source "$(dirname "$0")/common.sh"

pypi tornado==6.6.1
cd "$work"
"$python" - <<'PY' | confirm
import asyncio
import os
from email.utils import parsedate_to_datetime
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, StaticFileHandler

FOLDER = Path("site").absolute()
FOLDER.mkdir()
FILE = FOLDER / "robots.txt"


def publish(rule, time):
    FILE.write_text(f"User-agent: *\nDisallow: {rule}\n")
    os.utime(FILE, (time, time))


async def main():
    listener, port = bind_unused_port()
    HTTPServer(Application([("/(.*)", StaticFileHandler, {"path": FOLDER})])).add_socket(listener)

    async def get(label, after=lambda response: "", **headers):
        url = f"http://127.0.0.1:{port}/robots.txt"
        response = await AsyncHTTPClient().fetch(url, headers=headers, raise_error=False)
        lines = response.body.decode().splitlines()
        print(f"{label}: {response.code}{f', {lines[1]}' if lines else ''}{after(response)}")
        return response.headers

    def compared(response):
        dates = [parsedate_to_datetime(h["Last-Modified"]) for h in (old, response.headers)]
        same = response.headers["ETag"] == old["ETag"]
        return f", a later Last-Modified: {dates[1] > dates[0]}, the same ETag: {same}"

    publish("/private/", 1_790_000_000)
    old = await get("before")
    publish("/", 1_790_600_000)
    date = {"If-Modified-Since": old["Last-Modified"]}
    tag = {"If-None-Match": old["ETag"]}
    await get("after, no validator", compared)
    for headers in (date, tag, tag | date):
        await get(f"after, {' and '.join(headers)}", **headers)


asyncio.run(main())
PY
