#!/usr/bin/env bash
# mechanize for Python fetches no page of a site whose robots.txt is empty.
#
# Version: mechanize 0.4.10 (PyPI), with its defaults, which obey robots.txt.
# Source: RFC 9309, section 2.2.1: without a group that matches no rules apply.
# Expected: an empty file, 200 with no bytes, allows everything, as a missing one or a comment does.
# Behaviour: a file without a single byte counts as one that was never read, and disallows every URL.
# Output:
#   a file of 0 bytes: refused
#   a blank line: fetched
#   a comment: fetched
#   404: fetched
source "$(dirname "$0")/common.sh"

pypi mechanize==0.4.10
"$python" -W ignore - <<'PY' | confirm
import mechanize
from loopback import serving

CASES = {"a file of 0 bytes": b"", "a blank line": b"\n", "a comment": b"# nothing\n", "404": None}
for name, body in CASES.items():

    def answer(path, body=body):
        if path == "/robots.txt":
            return (200, {"Content-Type": "text/plain"}, body) if body is not None else (404, {}, b"")
        return 200, {"Content-Type": "text/html"}, b"<p>a page</p>"

    with serving(answer) as server:
        try:
            mechanize.Browser().open(f"{server.url}/page", timeout=10)
            print(f"{name}: fetched")
        except mechanize.HTTPError as error:
            print(f"{name}: {'refused' if 'robots.txt' in str(error) else error}")
PY
