#!/usr/bin/env bash
# wget2 fetches no page of a site whose robots.txt says "Disallow: # nothing".
#
# Version: Debian's wget2 1.99.1-2.2.
# Source: RFC 9309, section 2.2: a comment ends a line, and an empty path matches nothing; its example of an empty
# Disallow. wget2's manual: it respects robots.txt.
# Expected: a comment changes nothing, as behind a path.
# Behaviour: a comment behind a path is left out. Behind no path it is not seen as one until the value has been taken
# for a rule, which is then empty and matches each path.
# What follows: the site that opens all and says so in words is closed; it has one page in the mirror, and no message.
# Output:
#   Disallow: -> /private/b requested, /a requested
#   Disallow: # nothing -> /private/b not requested, /a not requested
#   Disallow: /private/ -> /private/b not requested, /a requested
#   Disallow: /private/ # drafts -> /private/b not requested, /a requested
source "$(dirname "$0")/common.sh"

debian 'wget2=1.99.1-*'
cd "$work"
"$python" - <<'PY' | confirm
import subprocess

from loopback import serving

LINES = ("Disallow:", "Disallow: # nothing", "Disallow: /private/", "Disallow: /private/ # drafts")
for line in LINES:
    pages = {
        "/robots.txt": ("text/plain", f"User-agent: *\n{line}\n"),
        "/": ("text/html", '<a href="/a">a</a> <a href="/private/b">b</a>'),
    }

    def answer(path):
        kind, text = pages.get(path, ("text/html", "<p>a page"))
        return 200, {"Content-Type": kind}, text.encode()

    with serving(answer) as server:
        command = ["wget2", "--no-config", "--quiet", "--recursive", "--level=1", "--tries=1", "-P", "mirror", f"{server.url}/"]
        subprocess.run(command, check=False, timeout=60)
        seen = [f"{path} {'' if path in server.log else 'not '}requested" for path in ("/private/b", "/a")]
    print(f"{line} -> {', '.join(seen)}")
PY
