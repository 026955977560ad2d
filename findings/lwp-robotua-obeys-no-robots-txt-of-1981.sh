#!/usr/bin/env bash
# LWP::RobotUA obeys no robots.txt whose Expires is in 1981, as PHP's sessions write it; one of 1970 it obeys.
#
# Version: Debian's libwww-perl 6.68-1 with libwww-robotrules-perl 6.02-1 and libhttp-message-perl 6.44-1.
# Source: RFC 9111, section 5.3: an Expires in the past means "already stale"; section 4: a response that has just
# arrived answers the request that was sent for it. RFC 9309, section 2.4: caching is optional. The manual of
# LWP::RobotUA: it obeys robots.txt.
# Expected: such a file counts for the request that waits for it, and is fetched again for the next one.
# Behaviour: rules that are stale on arrival are dropped, and the page is fetched. An Expires at the second 0 of 1970
# counts as none. An Age above max-age, from a cache in front of the site, does the same as 1981.
# What follows: a site whose robots.txt passes through PHP with a session is fetched against its rules, with a request
# for the file before each page.
# Output:
#   no caching headers: /private/ refused, 1 request for robots.txt
#   Expires: Thu, 01 Jan 1970 00:00:00 GMT: /private/ refused, 1 request for robots.txt
#   Expires: Thu, 19 Nov 1981 08:52:00 GMT: /private/ fetched, 2 requests for robots.txt
#   Cache-Control: max-age=60, Age: 61: /private/ fetched, 2 requests for robots.txt
source "$(dirname "$0")/common.sh"

debian 'libwww-perl=6.68-*' 'libwww-robotrules-perl=6.02-*' 'libhttp-message-perl=6.44-*'
cd "$work"
export PERL5LIB=$ROOT/usr/share/perl5:$ROOT/usr/lib/$(uname -m)-linux-gnu/perl5/5.36
cat >get.pl <<'PL'
use strict;
use LWP::RobotUA;

my $agent = LWP::RobotUA->new(agent => 'examplebot/1.0', from => 'bot@example.com');
$agent->delay(0);
my @statuses = map { $agent->get("$ARGV[0]/private/$_")->code } 1, 2;
print $statuses[0] == $statuses[1] ? $statuses[0] : "@statuses";
PL
"$python" - <<'PY' | confirm
import subprocess
from email.utils import formatdate

from loopback import serving

CACHING = (
    {},
    {"Expires": "Thu, 01 Jan 1970 00:00:00 GMT"},
    {"Expires": "Thu, 19 Nov 1981 08:52:00 GMT"},
    {"Cache-Control": "max-age=60", "Age": "61"},
)
for headers in CACHING:

    def answer(path):
        if path != "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, b"a page"
        dated = {"Content-Type": "text/plain", "Date": formatdate(usegmt=True), **headers}
        return 200, dated, b"User-agent: *\nDisallow: /private/\n"

    with serving(answer) as server:
        status = subprocess.check_output(["perl", "get.pl", server.url], text=True, timeout=60)
        asked = server.log.count("/robots.txt")
    shown = ", ".join(f"{name}: {value}" for name, value in headers.items()) or "no caching headers"
    result = {"403": "refused", "200": "fetched"}[status]
    print(f"{shown}: /private/ {result}, {asked} request{'s' * (asked > 1)} for robots.txt")
PY
