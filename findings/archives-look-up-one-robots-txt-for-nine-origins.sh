#!/usr/bin/env bash
# The key of web archives' indexes is the same for robots.txt files of nine origins, and for allowed
# and disallowed pages.
#
# Version: surt 0.3.1 (PyPI), with its defaults, as CDX and CDXJ indexes are sorted.
# Source: RFC 9309, section 2.3: a file is valid for scheme, host and port; section 2.2.2: paths are
# compared case-sensitively, and %2F is not a slash.
# Expected: http and https share a key, perhaps www, too.
# Behaviour: so do ftp, www2, a user name, an id of a session in the query. Of paths, the case, a
# final slash, double slashes and the escape of a slash are lost.
# What follows: who looks up by key which robots.txt was in force gets that of whichever origin was
# captured last; and a rule such as "Disallow: /Private/" cannot be audited by keys.
# Output:
#   9 origins, 1 key: com,example)/robots.txt
#   7 paths, 1 key: com,example)/a/b
source "$(dirname "$0")/common.sh"

pypi surt==0.3.1
"$python" -W ignore - <<'PY' | confirm
from surt import surt

ORIGINS = (
    "http://example.com", "https://example.com", "ftp://example.com", "http://www.example.com",
    "https://www.example.com", "http://www2.example.com", "http://www15.example.com",
    "http://user@example.com", "http://example.com.",
)  # fmt: skip
PATHS = "/a/b", "/A/b", "/a/B/", "/a//b", "/a%2Fb", "/%61/b", "/a/b?jsessionid=" + "0" * 32
for name, urls in (
    ("origins", [f"{origin}/robots.txt" for origin in ORIGINS]),
    ("paths", [f"http://example.com{path}" for path in PATHS]),
):
    keys = sorted({surt(url) for url in urls})
    print(f"{len(urls)} {name}, {len(keys)} key: {', '.join(keys)}")
PY
