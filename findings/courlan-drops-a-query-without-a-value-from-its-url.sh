#!/usr/bin/env bash
# courlan's normal form of a URL whose query has no value is another page's, which robots.txt may allow.
#
# Version: courlan 1.4.0 with Protego 0.7.0 (PyPI), in its default mode.
# Source: its README: basic canonicalization, standardizing URLs in a consistent manner, and, to re-order queries,
# strict=True; RFC 3986, section 6.2: normalization leads to an equivalent URI.
# Expected: trackers may go and the order may change; a query that the server tells apart remains.
# Behaviour: "?print" and "?lang=" are dropped whole. A byte of ISO 8859-1 in a query becomes U+FFFD.
# What follows: a frontier of normal forms asks for the page in place of its printed version, and a rule for
# the query is checked against a path without one.
# Output:
#   /page?print -> /page, under Disallow: /*?print disallowed -> allowed
#   /page?lang= -> /page, under Disallow: /*?lang= disallowed -> allowed
#   /page?q=1&utm_source=a -> /page?q=1, under Disallow: /*?q= disallowed -> disallowed
#   /page?q=caf%E9 -> /page?q=caf%EF%BF%BD, under Disallow: /*?q= disallowed -> disallowed
source "$(dirname "$0")/common.sh"

pypi courlan==1.4.0 protego==0.7.0
"$python" - <<'PY' | confirm
from courlan import normalize_url
from protego import Protego

ORIGIN = "https://example.com"
for path, rule in (
    ("/page?print", "/*?print"),
    ("/page?lang=", "/*?lang="),
    ("/page?q=1&utm_source=a", "/*?q="),
    ("/page?q=caf%E9", "/*?q="),
):
    rules = Protego.parse(f"User-agent: *\nDisallow: {rule}\n")
    url = normalize_url(ORIGIN + path)
    before, after = (
        "allowed" if rules.can_fetch(each, "examplebot") else "disallowed" for each in (ORIGIN + path, url)
    )
    print(f"{path} -> {url.removeprefix(ORIGIN)}, under Disallow: {rule} {before} -> {after}")
PY
