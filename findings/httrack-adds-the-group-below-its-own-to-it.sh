#!/usr/bin/env bash
# HTTrack obeys the groups of "httrack" and of "*" where its own stands first, and its own alone where it stands last.
#
# Version: Debian's httrack 3.49.4-1.
# Source: RFC 9309, section 2.2.1: the group of the crawler's name is obeyed, and that of "*" only where there is none; the
# order of groups says nothing.
# Expected: two files with the same groups close the same pages.
# Behaviour: a group of "*" counts until one of HTTrack's own has been seen; reading goes on within such a group when the
# next one begins with "*".
# What follows: to give HTTrack fewer limits than others, its group has to be the last one; the usual order, with "*" at
# the end, closes to it all that it was meant to fetch.
# Output:
#   httrack, then *: /own/ refused, /all/ refused
#   *, then httrack: /own/ refused, /all/ fetched
#   httrack alone: /own/ refused, /all/ fetched
#   * alone: /own/ fetched, /all/ refused
source "$(dirname "$0")/common.sh"

debian 'httrack=3.49.4-*'
cd "$work"
"$python" - <<'PY' | confirm
import subprocess

from loopback import serving

OWN, ALL = "User-agent: httrack\nDisallow: /own/\n", "User-agent: *\nDisallow: /all/\n"
FILES = {
    "httrack, then *": f"{OWN}\n{ALL}",
    "*, then httrack": f"{ALL}\n{OWN}",
    "httrack alone": OWN,
    "* alone": ALL,
}
PAGE = '<html><body><a href="/own/1.html">1</a> <a href="/all/1.html">2</a></body></html>'
for number, (name, robots) in enumerate(FILES.items()):

    def answer(path):
        if path == "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, robots.encode()
        return 200, {"Content-Type": "text/html"}, PAGE.encode()

    with serving(answer) as server:
        command = ["httrack", f"{server.url}/", "-O", f"mirror{number}", "-q", "-r2", "-I0"]
        subprocess.run(command, check=False, capture_output=True, timeout=60)
        assert "/robots.txt" in server.log
        seen = [f"/{each}/ {'fetched' if f'/{each}/1.html' in server.log else 'refused'}" for each in ("own", "all")]
    print(f"{name}: {', '.join(seen)}")
PY
