#!/usr/bin/env bash
# wget2 --wait=1 sends five requests within a few milliseconds, then waits a second.
#
# Version: Debian's wget2 1.99.1-2.2, against wget 1.21.3.
# Source: the manuals of both, word for word: "Wait the specified number of seconds between the
# retrievals. Use of this option is recommended, as it lightens the server load".
# Expected: at most one request in a second, as with wget.
# Behaviour: each of wget2's five threads waits for itself, and all begin together. On average the site
# gets five requests a second. --max-threads=1 keeps the gap.
# What follows: a polite crawl moved from wget to wget2 has the same options and five times the load.
# Output:
#   wget --wait=1: most requests within 0.5 s: 1
#   wget2 --wait=1: most requests within 0.5 s: 5
#   wget2 --wait=1 --max-threads=1: most requests within 0.5 s: 1
source "$(dirname "$0")/common.sh"

debian 'wget=1.21.3-*' 'wget2=1.99.1-*'
cd "$work"
"$python" - <<'PY' | confirm
import subprocess
import time

from loopback import serving

times = []
PAGES = "".join(f'<a href="/page{number}.html">page</a>' for number in range(10)).encode()


def answer(path):
    times.append(time.monotonic())
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow:\n"
    return 200, {"Content-Type": "text/html"}, PAGES if path == "/" else b"<p>A page"


with serving(answer) as server:
    for command in ("wget --wait=1", "wget2 --wait=1", "wget2 --wait=1 --max-threads=1"):
        times.clear()
        subprocess.run([*command.split(), "-q", "-r", f"{server.url}/"], check=True)
        assert len(times) == 12
        most = max(sum(0 <= each - first < 0.5 for each in times) for first in times)
        print(f"{command}: most requests within 0.5 s: {most}", flush=True)
PY
