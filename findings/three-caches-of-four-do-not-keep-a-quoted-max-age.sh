#!/usr/bin/env bash
# Cache-Control: max-age="600" stops nginx, Varnish and Squid from keeping a robots.txt at all.
#
# Version: nginx 1.22.1, Varnish 7.1.1, Squid 5.7, Traffic Server 9.2.5 (Debian 12), their defaults.
# Source: RFC 9111, sections 5.2 and 5.2.2.1: a recipient "ought to accept" max-age in both forms, as a
# token and as a quoted string; a sender ought not to write the second.
# Expected: 600 seconds, or, where the quoted form is not understood, what the cache does without a
# lifetime. Varnish keeps such a file for 120 s.
# Behaviour: Traffic Server keeps it. The others read the quotation mark as the number 0: each crawler's
# request reaches the origin.
# Output:
#   nginx: max-age=600 kept, max-age="600" not kept, no lifetime not kept
#   varnish: max-age=600 kept, max-age="600" not kept, no lifetime kept
#   squid: max-age=600 kept, max-age="600" not kept, no lifetime not kept
#   trafficserver: max-age=600 kept, max-age="600" kept, no lifetime not kept
source "$(dirname "$0")/common.sh"

debian 'nginx=1.22.1-*' 'varnish=7.1.1-*' 'squid=5.7-*' 'squid-common=5.7-*' 'squid-langpack=20220130-*' 'trafficserver=9.2.5*'
"$python" - <<'PY' | confirm
from caches import Origin, get, nginx, running, squid, trafficserver, varnish

VALUES = "max-age=600", 'max-age="600"', None
for cache in (nginx, varnish, squid, trafficserver):
    origin, words = Origin(), []
    with running(cache, origin) as port:
        for number, value in enumerate(VALUES):
            origin.answer(200, b"rules", *([("Cache-Control", value)] if value else []))
            for _ in range(3):
                get(port, f"/{number}/robots.txt")
            words.append(f"{value or 'no lifetime'} {'kept' if origin.requests == 1 else 'not kept'}")
    print(f"{cache.__name__}: {', '.join(words)}")
PY
