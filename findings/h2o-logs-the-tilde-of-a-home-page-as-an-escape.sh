#!/usr/bin/env bash
# h2o logs /~joe/ as /\x7ejoe/, and GoAccess counts a page of that name.
#
# Version: Debian's h2o 2.2.5+dfsg2-7 and goaccess 1:1.7-1.
# Source: h2o's manual, access-log: by default unsafe octets are escaped as by Apache, \xNN; RFC 3986, section 2.3:
# a tilde is an unreserved character, and RFC 9309, section 2.2.2, has /~joe/ among its examples.
# Expected: the path in the log as it was requested, as Apache and nginx log it.
# Behaviour: a tilde and a closing brace are escaped, an opening brace is not. GoAccess does not undo it.
# What follows: a crawler that ignores Disallow: /~joe/ is not found by the path of the rule.
# Output:
#   requested: /~joe/page /{x}
#   h2o logged: /\x7ejoe/page /{x\x7d
#   goaccess counted: /\x7ejoe/page /{x\x7d
source "$(dirname "$0")/common.sh"

debian 'h2o=2.2.5+dfsg2-7*' 'goaccess=1:1.7-1'
cd "$work"
mkdir site
"$python" - <<'PY' | confirm
import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path

PATHS = ("/~joe/page", "/{x}")
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
Path("h2o.conf").write_text(f"""listen: {{host: 127.0.0.1, port: {port}}}
hosts: {{default: {{paths: {{/: {{file.dir: {Path.cwd()}/site}}}}}}}}
access-log: {Path.cwd()}/access.log
num-threads: 1
{"user: root" if os.geteuid() == 0 else ""}
""")
server = subprocess.Popen(["h2o", "-c", "h2o.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for path in PATHS:
        for _ in range(100):
            try:
                connection = socket.create_connection(("127.0.0.1", port), 10)
                break
            except OSError:
                time.sleep(0.1)
        with connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
            while connection.recv(65536):
                pass
    for _ in range(100):
        logged = re.findall(r'"GET (\S+) ', Path("access.log").read_text())
        if len(logged) == len(PATHS):
            break
        time.sleep(0.1)
finally:
    server.terminate()
    server.wait()
print("requested:", *PATHS)
print("h2o logged:", *logged)
subprocess.run(
    ["goaccess", "access.log", "--no-global-config", "--log-format=COMBINED", "-o", "report.json"],
    check=True,
    capture_output=True,
    env={**os.environ, "TERM": "xterm"},
)
report = json.loads(Path("report.json").read_text())
counted = {each["data"] for name in ("requests", "not_found") for each in report[name]["data"]}
print("goaccess counted:", *sorted(counted, key=lambda path: path.startswith("/{")))
PY
