#!/usr/bin/env bash
# advertools reads no rule of a robots.txt in which one line has no colon.
#
# Version: advertools 0.18.0 with pandas 2.3.3 (PyPI).
# Source: RFC 9309, section 2.2.4: crawlers may read other records, and errors in one must not disturb the
# parsing of explicitly defined records; the documentation of robotstxt_to_df: the file's directives.
# Expected: the other lines, with or without that one.
# Behaviour: the file is a row with the error "list index out of range", and no directive. In a list of files
# it stands beside those that could not be downloaded.
# What follows: a study counts the site among those without rules.
# Output:
#   User-agent: * | Disallow: /private/ -> 2 directives
#   User-agent: * | Disallow: /private/ | Thank you -> 0 directives, list index out of range
#   User-agent: * | Disallow: /private/ | Thank you: all -> 3 directives
source "$(dirname "$0")/common.sh"

pypi advertools==0.18.0 pandas==2.3.3
"$python" - <<'PY' 2>"$work/errors" | confirm
import logging

import advertools
from loopback import serving

logging.disable()
FILES = (
    ("User-agent: *", "Disallow: /private/"),
    ("User-agent: *", "Disallow: /private/", "Thank you"),
    ("User-agent: *", "Disallow: /private/", "Thank you: all"),
)


def answer(path):
    lines = FILES[int(path.split("/")[1])]
    return 200, {"Content-Type": "text/plain"}, "".join(f"{line}\n" for line in lines).encode()


with serving(answer) as server:
    for number, lines in enumerate(FILES):
        table = advertools.robotstxt_to_df(f"{server.url}/{number}/robots.txt")
        count = table["directive"].count() if "directive" in table else 0
        error = f", {table['errors'][0]}" if "errors" in table else ""
        print(f"{' | '.join(lines)} -> {count} directives{error}", flush=True)
PY
