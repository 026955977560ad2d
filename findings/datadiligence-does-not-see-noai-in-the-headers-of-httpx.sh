#!/usr/bin/env bash
# datadiligence allows an image with "noai" if the names of the headers that it gets are in lower case.
#
# Version: datadiligence 0.1.7 with httpx 0.28.1 and requests 2.32.5 (PyPI).
# Source: the docstring of its rules: headers may be a dictionary; RFC 9110, section 5.1: names of fields are
# case-insensitive; HTTP/2 has them in lower case alone (RFC 9113, section 8.2.1), and so has httpx, always.
# Expected: a dictionary of a response's headers gives the same answer whichever client made it.
# Behaviour: in a dictionary it looks for "X-Robots-Tag", spelled so. Without it nothing is forbidden.
# What follows: a data set is collected by the owners' wishes with one client, and against them with another;
# behind a proxy that speaks HTTP/2 with any.
# Output:
#   requests, dict(headers): allowed False
#   httpx, dict(headers): allowed True
#   requests, the response: allowed False
source "$(dirname "$0")/common.sh"

export SPAWNING_OPTS_KEY=none
pypi datadiligence==0.1.7 httpx==0.28.1 requests==2.32.5
"$python" - <<'PY' 2>"$work/errors" | confirm
import httpx
import requests
from datadiligence.rules import XRobotsTagHeader
from loopback import serving

rule = XRobotsTagHeader(user_agent="examplebot")
with serving(lambda path: (200, {"Content-Type": "image/png", "X-Robots-Tag": "noai"}, b"")) as server:
    for client in (requests, httpx):
        headers = dict(client.get(f"{server.url}/image.png").headers)
        print(f"{client.__name__}, dict(headers): allowed {rule.is_allowed(headers=headers)}", flush=True)
    response = requests.get(f"{server.url}/image.png")
    print(f"requests, the response: allowed {rule.is_allowed(response=response)}", flush=True)
PY
