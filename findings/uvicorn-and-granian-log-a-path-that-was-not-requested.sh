#!/usr/bin/env bash
# uvicorn logs "/a/b" for a request of "/a%2Fb", and Granian "/a?b" for "/a%3Fb".
#
# Version: uvicorn 0.54.0, Granian 2.8.9 and, for comparison, Daphne 4.2.3 (PyPI), each with its own access log.
# Source: uvicorn's field of the log is request_line, Granian's the HTTP request path; RFC 9309, section 2.2.2:
# %2F and "/" are different in a path; ASGI has the path decoded, and as it came in raw_path.
# Expected: the path that the client sent, as in the logs of gunicorn, nginx and Daphne.
# Behaviour: uvicorn encodes the decoded path anew, Granian writes it as it is. A slash within a segment separates
# two, a question mark begins a query, "(" is "%28".
# What follows: by such a log a crawler requested what a rule disallows, or what it allows, and requested neither.
# Output:
#   sent /a%2Fb: Daphne /a%2Fb, uvicorn /a/b, Granian /a/b
#   sent /a%3Fb: Daphne /a%3Fb, uvicorn /a%3Fb, Granian /a?b
#   sent /a(b): Daphne /a(b), uvicorn /a%28b%29, Granian /a(b)
source "$(dirname "$0")/common.sh"

pypi uvicorn==0.54.0 granian==2.8.9 daphne==4.2.3
cd "$work"
cat >served.py <<'PY'
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})
PY
"$python" - <<'PY' | confirm
import http.client
import re
import socket
import subprocess
import time
from pathlib import Path

PATHS = ("/a%2Fb", "/a%3Fb", "/a(b)")
COMMANDS = {
    "Daphne": "daphne -p {} --access-log - served:app",
    "uvicorn": "uvicorn --port {} served:app",
    "Granian": "granian --interface asgi --port {} --access-log served:app",
}


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    connection.getresponse().read()
    connection.close()


def wait(done):
    for _ in range(300):
        try:
            if done():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server does not start, or logs nothing")


logged = {}
for name, command in COMMANDS.items():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = Path(name)
    with file.open("wb") as log:
        server = subprocess.Popen(command.format(port).split(), stdout=log, stderr=log)
    try:
        wait(lambda: get(port, "/ready") is None)
        for path in PATHS:
            get(port, path)
        wait(lambda: file.read_text().count('"GET ') >= 1 + len(PATHS))
    finally:
        server.terminate()
        server.wait()
    logged[name] = re.findall(r'"GET ([^" ]+)', file.read_text())[-len(PATHS) :]
for number, path in enumerate(PATHS):
    print(f"sent {path}: {', '.join(f'{name} {paths[number]}' for name, paths in logged.items())}")
PY
