#!/usr/bin/env bash
# http-server --robots serves the second and each further rule as part of the first one.
#
# Version: http-server 14.1.1 (npm).
# Source: its README and --help: --robots provides a /robots.txt whose content is by default
# "User-agent: *\nDisallow: /", so "\n" in the option's value ends a line.
# Expected: "User-agent: *\nDisallow: /a\nDisallow: /b" has three lines.
# Behaviour: the first "\n" ends a line; the others are sent as a backslash and an n.
# What follows: the rule is one for /a\nDisallow: /b, and closes neither folder.
# Output:
#   User-agent: *\nDisallow: / -> 2 lines: User-agent: * | Disallow: /
#   User-agent: *\nDisallow: /a\nDisallow: /b -> 2 lines: User-agent: * | Disallow: /a\nDisallow: /b
#   GET /a by that file: allowed
source "$(dirname "$0")/common.sh"

npm_packages http-server@14.1.1
cd "$work"
mkdir site
"$python" - <<'PY' | confirm
import socket
import subprocess
import time
import urllib.request
from urllib.robotparser import RobotFileParser


def served(value):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", "node_modules/http-server/bin/http-server", "site", "-a", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen([*command, "--silent", "--robots", value])
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/robots.txt", timeout=5) as answer:
                    return answer.read().decode().splitlines()
            except OSError:
                time.sleep(0.1)
    finally:
        server.terminate()
        server.wait()


for value in (r"User-agent: *\nDisallow: /", r"User-agent: *\nDisallow: /a\nDisallow: /b"):
    lines = served(value)
    print(f"{value} -> {len(lines)} lines: {' | '.join(lines)}", flush=True)
rules = RobotFileParser()
rules.parse(lines)
print(f"GET /a by that file: {'allowed' if rules.can_fetch('examplebot', '/a') else 'disallowed'}")
PY
