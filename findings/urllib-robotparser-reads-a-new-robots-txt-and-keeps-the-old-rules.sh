#!/usr/bin/env bash
# urllib.robotparser keeps the rules that it read first, whatever it reads later.
#
# Version: Python 3.11.2 (Debian 12).
# Source: its documentation: read() reads the URL and feeds it to the parser; mtime() gives the time of the last
# fetch, "useful for long-running web spiders that need to check for new robots.txt files periodically".
# Expected: a second read() replaces the rules.
# Behaviour: groups are added to those of the last file, the first one for a name decides, and a second group for
# * is dropped. After one 404 everything stays allowed, after one 403 disallowed, whatever follows.
# What follows: a crawler that checks daily requests the file daily, and obeys that of its first day. Only a new
# parser object reads anew.
# Output:
#   /a is disallowed, then /b: /a disallowed, /b allowed
#   a 404, then all is disallowed: /a allowed, /b allowed
#   a 403, then all is allowed: /a disallowed, /b disallowed
#   /a is disallowed, then /b, with a new object: /a allowed, /b disallowed
source "$(dirname "$0")/common.sh"

debian 'python3.11-minimal=3.11.2-*' 'libpython3.11-minimal=3.11.2-*' 'libpython3.11-stdlib=3.11.2-*'
export PYTHONHOME=$ROOT/usr
"$ROOT/usr/bin/python3.11" - <<'PY' | confirm
from urllib.robotparser import RobotFileParser

from loopback import serving

GROUP = "User-agent: *\nDisallow: "
HISTORIES = (
    ("/a is disallowed, then /b", (200, f"{GROUP}/a\n"), (200, f"{GROUP}/b\n"), False),
    ("a 404, then all is disallowed", (404, ""), (200, f"{GROUP}/\n"), False),
    ("a 403, then all is allowed", (403, ""), (200, f"{GROUP}\n"), False),
    ("/a is disallowed, then /b, with a new object", (200, f"{GROUP}/a\n"), (200, f"{GROUP}/b\n"), True),
)


def answer(path):
    status, text = current
    return status, {"Content-Type": "text/plain"}, text.encode()


with serving(answer) as server:
    for name, first, second, anew in HISTORIES:
        rules = RobotFileParser(f"{server.url}/robots.txt")
        current = first
        rules.read()
        if anew:
            rules = RobotFileParser(f"{server.url}/robots.txt")
        current = second
        rules.read()
        verdicts = (
            f"{path} {'allowed' if rules.can_fetch('examplebot', path) else 'disallowed'}" for path in ("/a", "/b")
        )
        print(f"{name}: {', '.join(verdicts)}", flush=True)
PY
