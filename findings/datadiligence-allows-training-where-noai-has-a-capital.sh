#!/usr/bin/env bash
# datadiligence allows training on a file whose header says "NoAI" or "ExampleBot: noai", and forbids it for another's.
#
# Version: datadiligence 0.1.7 (PyPI).
# Source: its documentation: it evaluates X-Robots-Tag; Google's page on the header: neither the name of the crawler nor the
# values count in their case, and a name in front of a list is for the values behind it.
# Expected: each spelling is the same statement; a list for one crawler says nothing about another.
# Behaviour: names and values are compared as they are written. A list is cut at its commas first, so that a name is in
# front of its first value alone; all others count for everybody.
# What follows: an owner's "no" is not seen, or a "no" to somebody else is obeyed; the answer is True or False, without
# a word about an unknown value.
# Output:
#   noai -> allowed False
#   NoAI -> allowed True
#   NOAI -> allowed True
#   examplebot: noai -> allowed False
#   ExampleBot: noai -> allowed True
#   otherbot: noai, noimageai -> allowed False
#   otherbot: noai -> allowed True
source "$(dirname "$0")/common.sh"

export SPAWNING_OPTS_KEY=none
pypi datadiligence==0.1.7
"$python" - <<'PY' 2>"$work/errors" | confirm
from datadiligence.rules.http import XRobotsTagHeader

rule = XRobotsTagHeader(user_agent="examplebot")
for value in (
    "noai",
    "NoAI",
    "NOAI",
    "examplebot: noai",
    "ExampleBot: noai",
    "otherbot: noai, noimageai",
    "otherbot: noai",
):
    print(f"{value} -> allowed {rule.is_allowed(headers={'X-Robots-Tag': value})}")
PY
