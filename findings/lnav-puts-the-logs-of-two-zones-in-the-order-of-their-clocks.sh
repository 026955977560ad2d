#!/usr/bin/env bash
# lnav shows a page request before the robots.txt request that preceded it, if another server logged it.
#
# Version: Debian's lnav 0.11.1-3.
# Source: its manual: it knows the semantics of timestamps, and interleaves messages of different files; Apache's
# manual: the time of a log line ends with the server's offset from UTC.
# Expected: lines of all files in the order of the moments that they state.
# Behaviour: the offset is not read, or not used: 13:05 +0200, which is 11:05 UTC, comes after 12:00 +0000. In the
# table access_log both times are without a zone.
# What follows: with a proxy in UTC and servers in local time, who reads whether a crawler asked for robots.txt
# first reads it wrong by the hours between them.
# Output:
#   lnav: /robots.txt 12:00:00, /robots.txt 12:10:00, /page 13:05:00
#   by moment: /page 11:05:00 UTC, /robots.txt 12:00:00 UTC, /robots.txt 12:10:00 UTC
source "$(dirname "$0")/common.sh"

debian 'lnav=0.11.1-*'
cd "$work"
"$python" - <<'PY' | confirm
import json
import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

LINE = '192.0.2.1 - - [29/Nov/2026:{} "GET {} HTTP/1.1" 200 5 "-" "examplebot/1.0"\n'
LOGS = {
    "proxy.log": (("12:00:00 +0000]", "/robots.txt"), ("12:10:00 +0000]", "/robots.txt")),
    "server.log": (("13:05:00 +0200]", "/page"),),
}
requests = []
for name, lines in LOGS.items():
    Path(name).write_text("".join(LINE.format(*each) for each in lines))
    for time, path in lines:
        moment = datetime.strptime(f"29/Nov/2026:{time}", "%d/%b/%Y:%H:%M:%S %z]").astimezone(timezone.utc)
        requests.append((moment, path))
query = ";select log_time, cs_uri_stem from access_log"
environment = {**os.environ, "HOME": str(Path.cwd()), "TERM": "xterm", "TZ": "UTC"}
shown = subprocess.run(
    ["lnav", "-n", "-c", query, "-c", ":write-json-to -", *LOGS],
    check=True,
    capture_output=True,
    text=True,
    env=environment,
).stdout
rows = json.loads(re.search(r"\[.*\]", shown, re.DOTALL)[0])
print("lnav: " + ", ".join(f"{row['cs_uri_stem']} {row['log_time'][11:19]}" for row in rows))
print("by moment: " + ", ".join(f"{path} {moment:%H:%M:%S} UTC" for moment, path in sorted(requests)))
PY
