#!/usr/bin/env bash
# WhiteNoise and sirv cut a robots.txt at the length it had when they started: a new comment closes the whole site.
#
# Version: whitenoise 6.12.0 under gunicorn 27.0.1 (PyPI), sirv 3.0.2 (npm), which SvelteKit's server for Node uses.
# Source: WhiteNoise's documentation: WHITENOISE_ROOT is for files such as robots.txt, and without autorefresh changes
# are not looked for; sirv's README: without "dev" it reads all at the start, and relies on its cache.
# Expected: the old file or the new one. A file that is added is not served until a restart.
# Behaviour: the headers are those of the start, and the contents are read from the disk: the new file ends after the
# bytes that the old one had, with the ETag and Last-Modified of the old one.
# What follows: the last rules are lost, or become shorter and match more. A crawler that has the old file is told
# that nothing changed.
# Output:
#   at the start: User-agent: * | Disallow: /private/
#   on the disk: User-agent: * | # spring | Disallow: /private/
#   whitenoise: User-agent: * | # spring | Disallow: /
#   whitenoise, If-None-Match with the old ETag: 304
#   sirv: User-agent: * | # spring | Disallow: /
source "$(dirname "$0")/common.sh"

pypi whitenoise==6.12.0 gunicorn==27.0.1
npm_packages sirv@3.0.2
cd "$work"
cat >served.py <<'PY'
from whitenoise import WhiteNoise


def missing(environ, start_response):
    start_response("404 Not Found", [("Content-Length", "0")])
    return []


application = WhiteNoise(missing, root="public")
PY
cat >served.mjs <<'JS'
import http from 'node:http';
import { createRequire } from 'node:module';

const sirv = createRequire(`${process.env.NODE_PATH}/`)('sirv');
http.createServer(sirv('public')).listen(Number(process.argv[2]), '127.0.0.1');
JS
"$python" - <<'PY' | confirm
import http.client
import os
import socket
import subprocess
import time
from pathlib import Path

OLD = "User-agent: *\nDisallow: /private/\n"
NEW = "User-agent: *\n# spring\nDisallow: /private/\n"
file = Path("public/robots.txt")
file.parent.mkdir()


def get(port, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/robots.txt", headers={"Connection": "close", **headers})
    response = connection.getresponse()
    return response, response.read().decode()


def ready(port):
    for _ in range(300):
        try:
            return get(port)
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


def one_line(text):
    return " | ".join(text.splitlines())


print(f"at the start: {one_line(OLD)}")
print(f"on the disk: {one_line(NEW)}")
for name, command in (
    ("whitenoise", ["gunicorn", "--no-control-socket", "-b", "127.0.0.1:{}", "served:application"]),
    ("sirv", ["node", "served.mjs", "{}"]),
):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file.write_text(OLD)
    with open("log", "wb") as log:
        server = subprocess.Popen([part.format(port) for part in command], stdout=log, stderr=log)
    try:
        response, text = ready(port)
        assert text == OLD
        file.write_text(NEW)
        print(f"{name}: {one_line(get(port)[1])}")
        if etag := response.headers["ETag"]:
            response, _ = get(port, **{"If-None-Match": etag})
            print(f"{name}, If-None-Match with the old ETag: {response.status}")
    finally:
        server.terminate()
        server.wait()
PY
