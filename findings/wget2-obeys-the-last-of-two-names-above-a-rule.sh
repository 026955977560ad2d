#!/usr/bin/env bash
# wget2 obeys a group of two names if its own is the last of them; "*" in front of another name closes nothing to it.
#
# Version: Debian's wget2 1.99.1-2.2.
# Source: RFC 9309, section 2.1: a group has one or more lines of names, and its rules are for each of them. wget2's manual:
# it respects robots.txt.
# Expected: the order of the names changes nothing.
# Behaviour: each line with a name decides anew whether what follows is read, and forgets the line above it.
# What follows: the long lists of names that sites copy for AI crawlers and downloaders close nothing to wget2, unless it
# happens to be at their end.
# Output:
#   wget2: /private/ refused
#   otherbot, wget2: /private/ refused
#   wget2, otherbot: /private/ fetched
#   otherbot, *: /private/ refused
#   *, otherbot: /private/ fetched
source "$(dirname "$0")/common.sh"

debian 'wget2=1.99.1-*'
cd "$work"
"$python" - <<'PY' | confirm
import subprocess

from loopback import serving

for names in ("wget2", "otherbot, wget2", "wget2, otherbot", "otherbot, *", "*, otherbot"):
    group = "".join(f"User-agent: {name}\n" for name in names.split(", "))
    pages = {
        "/robots.txt": ("text/plain", f"{group}Disallow: /private/\n"),
        "/": ("text/html", '<a href="/open">1</a> <a href="/private/a">2</a>'),
    }

    def answer(path):
        kind, text = pages.get(path, ("text/html", "<p>a page"))
        return 200, {"Content-Type": kind}, text.encode()

    with serving(answer) as server:
        command = ["wget2", "--no-config", "--quiet", "--recursive", "--level=1", "--tries=1", "-P", "mirror"]
        subprocess.run([*command, f"{server.url}/"], check=False, timeout=60)
        assert "/open" in server.log
        print(f"{names}: /private/ {'fetched' if '/private/a' in server.log else 'refused'}")
PY
