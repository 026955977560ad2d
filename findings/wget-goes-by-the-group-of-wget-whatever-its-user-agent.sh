#!/usr/bin/env bash
# wget --user-agent=examplebot/1.0 obeys the group "wget" and not the group "examplebot".
#
# Version: Debian's wget 1.21.3.
# Source: RFC 9309, section 2.2.1: the name in a robots.txt is to be part of the identification that a crawler sends.
# wget's manual, --user-agent: "identify as" that agent.
# Expected: whoever is named examplebot in the log of a site is named so in its robots.txt.
# Behaviour: wget looks for "wget" and "*" in the file, whatever it calls itself in requests.
# What follows: a site that closes a folder to examplebot, the only name that it has seen, is fetched all the same; one
# that closes all to wget stops a crawl that nobody recognizes as one by wget.
# Output:
#   wget: /for/wget not requested, /for/examplebot requested
#   wget --user-agent=examplebot/1.0: /for/wget not requested, /for/examplebot requested
#   wget --user-agent=examplebot: /for/wget not requested, /for/examplebot requested
source "$(dirname "$0")/common.sh"

debian 'wget=1.21.3-*'
cd "$work"
"$python" - <<'PY' | confirm
import subprocess

from loopback import serving

NAMES = ("wget", "examplebot")
ROBOTS = "\n".join(f"User-agent: {name}\nDisallow: /for/{name}\n" for name in NAMES)
LINKS = "".join(f'<a href="/for/{name}">a page</a>' for name in NAMES)
PAGES = {"/robots.txt": ("text/plain", ROBOTS), "/": ("text/html", LINKS)}


def answer(path):
    kind, text = PAGES.get(path, ("text/html", "<p>a page"))
    return 200, {"Content-Type": kind}, text.encode()


for command in ("wget", "wget --user-agent=examplebot/1.0", "wget --user-agent=examplebot"):
    with serving(answer) as server:
        options = ["--no-config", "-q", "-r", "-l1", "--tries=1", "-P", "mirror", f"{server.url}/"]
        subprocess.run([*command.split(), *options], check=False, timeout=60)
        assert "/robots.txt" in server.log
        seen = [f"/for/{name} {'' if f'/for/{name}' in server.log else 'not '}requested" for name in NAMES]
    print(f"{command}: {', '.join(seen)}")
PY
