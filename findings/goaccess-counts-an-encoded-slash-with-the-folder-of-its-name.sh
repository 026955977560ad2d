#!/usr/bin/env bash
# GoAccess counts requests for /a%2Fb as such for /a/b, and those for /a%3Fb=1 as /a?b=1.
#
# Version: Debian's goaccess 1:1.7-1.
# Source: RFC 3986, section 2.2: URIs that differ in an encoded reserved character are not equivalent; RFC 9309,
# section 2.2.2, compares paths so. GoAccess's manual: the panel lists the requested files; --double-decode
# is for values that are encoded twice.
# Expected: a row for each URL that was requested, whatever a page of the report shows of it.
# Behaviour: paths are decoded before they are counted, also where a character would have another meaning.
# What follows: a crawler that a rule for /a/ disallows nothing of, since it asked for /a%2Fb, stands in the
# report with a request for /a/b; a rule cannot be written from the report.
# Output:
#   /a/b -> /a/b: 2 hits
#   /a%2Fb -> counted with another URL
#   /a?b=1 -> /a?b=1: 2 hits
#   /a%3Fb=1 -> counted with another URL
#   /c%41 -> /cA: 1 hits
source "$(dirname "$0")/common.sh"

debian 'goaccess=1:1.7-1'
cd "$work"
"$python" - <<'PY' | confirm
import json
import os
import subprocess
from pathlib import Path

TARGETS = ("/a/b", "/a%2Fb", "/a?b=1", "/a%3Fb=1", "/c%41")
Path("access.log").write_text(
    "".join(
        f'192.0.2.1 - - [29/Nov/2026:12:00:{second:02} +0000] "GET {target} HTTP/1.1" 200 5 "-" "examplebot/1.0"\n'
        for second, target in enumerate(TARGETS)
    )
)
command = ["goaccess", "access.log", "--no-global-config", "--log-format=COMBINED", "-o", "report.json"]
subprocess.run(command, check=True, capture_output=True, env={**os.environ, "TERM": "xterm"})
rows = json.loads(Path("report.json").read_text())["requests"]["data"]
hits = {row["data"]: row["hits"]["count"] for row in rows}
assert sum(hits.values()) == len(TARGETS)
shown = {"/c%41": "/cA"}
for target in TARGETS:
    name = shown.get(target, target)
    print(f"{target} -> {f'{name}: {hits[name]} hits' if name in hits else 'counted with another URL'}")
PY
