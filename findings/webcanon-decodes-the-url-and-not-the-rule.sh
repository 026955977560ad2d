#!/usr/bin/env bash
# webcanon finds no match for a rule that is percent-encoded, as RFC 9309 and Google ask for it.
#
# Version: webcanon 0.3.0, against Protego 0.7.0 (PyPI).
# Source: its docstring: an RFC 9309 engine, with the matching rules of section 2.2.2; that section: characters outside
# ASCII are percent-encoded in the comparison, and "%2F" is not a slash.
# Expected: "/caf%C3%A9/" matches that path of a URL, and "/café/" does, too.
# Behaviour: the path of the URL is decoded, and the rule stays as it is. A rule with an escape matches nothing, and a
# raw one what it should. A rule for "/a/b" also matches /a%2Fb.
# What follows: the owner who follows the specification, or whose generator does, closes nothing to this crawler; the
# page is fetched with the note that robots.txt has no rule for it.
# Output:
#   Disallow: /caf%C3%A9/, /caf%C3%A9/menu: webcanon allowed_implicit, Protego disallowed
#   Disallow: /café/, /caf%C3%A9/menu: webcanon disallowed_explicit, Protego disallowed
#   Disallow: /a%20b/, /a%20b/: webcanon allowed_implicit, Protego disallowed
#   Disallow: /a/b, /a%2Fb: webcanon disallowed_explicit, Protego allowed
source "$(dirname "$0")/common.sh"

pypi webcanon==0.3.0 protego==0.7.0
"$python" - <<'PY' | confirm
from protego import Protego
from webcanon.robots import evaluate_robots, parse_robots

for rule, path in (
    ("/caf%C3%A9/", "/caf%C3%A9/menu"),
    ("/café/", "/caf%C3%A9/menu"),
    ("/a%20b/", "/a%20b/"),
    ("/a/b", "/a%2Fb"),
):
    text, url = f"User-agent: *\nDisallow: {rule}\n", f"https://example.com{path}"
    verdict, _ = evaluate_robots(parse_robots(text), url, "examplebot")
    protego = "allowed" if Protego.parse(text).can_fetch(url, "examplebot") else "disallowed"
    print(f"Disallow: {rule}, {path}: webcanon {verdict.value}, Protego {protego}")
PY
