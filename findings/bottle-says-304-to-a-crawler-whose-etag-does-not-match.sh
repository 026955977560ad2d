#!/usr/bin/env bash
# bottle answers 304 to a crawler that has another robots.txt, once an older one is put back.
#
# Version: bottle 0.13.4, against Flask 3.1.3 (PyPI).
# Source: RFC 9110, sections 13.1.3 and 13.2.2: a recipient must ignore If-Modified-Since if the request has
# If-None-Match; where no tag matches, the file is sent. bottle's documentation: static_file gives an ETag.
# Expected: the file, since its ETag is another one.
# Behaviour: where the tag does not match, bottle goes on to the date. A file of last week that is put back, with its
# date, by "cp -p", rsync or a backup is not newer than the one that the crawler has.
# What follows: "Disallow: /" is published by mistake and taken back, and a crawler that keeps both validators is told
# again and again that it is still in force. One that sends If-None-Match alone reads the file.
# Output:
#   bottle, If-None-Match: 200, Disallow: /private/
#   bottle, If-None-Match and If-Modified-Since: 304
#   flask, If-None-Match: 200, Disallow: /private/
#   flask, If-None-Match and If-Modified-Since: 200, Disallow: /private/
source "$(dirname "$0")/common.sh"

pypi bottle==0.13.4 flask==3.1.3
cd "$work"
"$python" - <<'PY' | confirm
import http.client
import os
import threading
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import bottle
import flask

FOLDER = Path("site").absolute()
FOLDER.mkdir()
FILE = FOLDER / "robots.txt"


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def publish(rule, time):
    FILE.write_text(f"User-agent: *\nDisallow: {rule}\n")
    os.utime(FILE, (time, time))


def get(port, **validators):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {name.replace("_", "-"): value for name, value in validators.items()}
    connection.request("GET", "/robots.txt", headers=headers)
    response = connection.getresponse()
    return response, response.read().decode()


with_bottle = bottle.Bottle()
with_bottle.route("/robots.txt")(lambda: bottle.static_file("robots.txt", root=FOLDER))
with_flask = flask.Flask(__name__)
with_flask.route("/robots.txt")(lambda: flask.send_from_directory(FOLDER, "robots.txt"))
for name, application in (("bottle", with_bottle), ("flask", with_flask)):
    server = make_server("127.0.0.1", 0, application, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    publish("/", 1_790_600_000)
    first, _ = get(server.server_port)
    tag, date = first.getheader("ETag"), first.getheader("Last-Modified")
    publish("/private/", 1_790_000_000)
    both = {"If_None_Match": tag, "If_Modified_Since": date}
    for validators in ({"If_None_Match": tag}, both):
        response, body = get(server.server_port, **validators)
        rule = f", {body.splitlines()[1]}" if body else ""
        sent = " and ".join(validators).replace("_", "-")
        print(f"{name}, {sent}: {response.status}{rule}")
PY
