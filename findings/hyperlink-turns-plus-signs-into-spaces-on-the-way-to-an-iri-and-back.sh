#!/usr/bin/env bash
# hyperlink makes "?q=c++" of "?q=c%2B%2B" when a URL is shown as an IRI and read back, and reads two spaces in it.
#
# Version: hyperlink 21.0.0, the URLs of Twisted's treq and klein, against yarl 1.25.1; verdicts by Protego 0.7.0 (PyPI).
# Source: its documentation: to_iri decodes all but a few reserved characters, and to_uri prepares the result for the
# network; RFC 3987, section 3.2: no escape is decoded in an IRI that stands for a reserved character.
# Expected: the way there and back ends at the same resource, as yarl's human_repr does.
# Behaviour: "+", "/", "?" and "=" are decoded in a query, and encoded again by nobody. The library's own reader of
# queries takes the "+" for a space.
# What follows: a frontier that stores URLs in their readable form requests another search, and a rule with an escape
# no longer matches what it forbids.
# Output:
#   /search?q=c%2B%2B: hyperlink 'c++' -> /search?q=c++ 'c  ', yarl 'c++' -> /search?q=c%2B%2B 'c++'
#   /search?q=a%26b: hyperlink 'a&b' -> /search?q=a%26b 'a&b', yarl 'a&b' -> /search?q=a%26b 'a&b'
#   /login?q=%2Fcart, Disallow: /login?q=%2F: disallowed -> hyperlink /login?q=/cart, allowed
source "$(dirname "$0")/common.sh"

pypi hyperlink==21.0.0 yarl==1.25.1 protego==0.7.0
"$python" - <<'PY' | confirm
import yarl
from hyperlink import DecodedURL, URL
from protego import Protego

ORIGIN = "https://example.com"


def back(url):
    return URL.from_text(URL.from_text(url).to_iri().to_text()).to_uri().to_text()


for path in ("/search?q=c%2B%2B", "/search?q=a%26b"):
    stories = []
    for name, read, turn in (
        ("hyperlink", lambda url: DecodedURL.from_text(url).get("q")[0], back),
        ("yarl", lambda url: yarl.URL(url).query["q"], lambda url: str(yarl.URL(yarl.URL(url).human_repr()))),
    ):
        before, after = ORIGIN + path, turn(ORIGIN + path)
        stories.append(f"{name} {read(before)!r} -> {after.removeprefix(ORIGIN)} {read(after)!r}")
    print(f"{path}: {', '.join(stories)}")
rule, path = "/login?q=%2F", "/login?q=%2Fcart"
rules = Protego.parse(f"User-agent: *\nDisallow: {rule}\n")
url = back(ORIGIN + path)
before, after = ("allowed" if rules.can_fetch(each, "x") else "disallowed" for each in (ORIGIN + path, url))
print(f"{path}, Disallow: {rule}: {before} -> hyperlink {url.removeprefix(ORIGIN)}, {after}")
PY
