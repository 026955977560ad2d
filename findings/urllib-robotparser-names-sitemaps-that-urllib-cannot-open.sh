#!/usr/bin/env bash
# urllib.robotparser decodes the URLs of sitemaps: /sitemap%20index.xml has a space, and %26 becomes a parameter's end.
#
# Version: Python 3.11.2 (Debian 12).
# Source: its documentation: site_maps() returns the contents of the Sitemap parameter from robots.txt; RFC 3986,
# section 2.4: decoding a whole URL before it is taken apart makes another one of it.
# Expected: the URLs as they are written, ready for urlopen of the same library.
# Behaviour: the value of each line is decoded, of a URL as of a path.
# What follows: urlopen refuses the one with a space; of the others it requests something else, and a crawl goes by the
# wrong list of pages, or by none.
# Output:
#   /sitemap%20index.xml -> InvalidURL
#   /sitemap?list=news%26sport -> requested /sitemap?list=news&sport
#   /sitemaps%2F2026.xml -> requested /sitemaps/2026.xml
#   /sitemap%231.xml -> requested /sitemap
#   /sitemap.xml -> requested /sitemap.xml
source "$(dirname "$0")/common.sh"

debian 'python3.11-minimal=3.11.2-*' 'libpython3.11-minimal=3.11.2-*' 'libpython3.11-stdlib=3.11.2-*'
export PYTHONHOME=$ROOT/usr
"$ROOT/usr/bin/python3.11" - <<'PY' | confirm
from http.client import InvalidURL
from urllib.request import urlopen
from urllib.robotparser import RobotFileParser

from loopback import serving

TARGETS = (
    "/sitemap%20index.xml",
    "/sitemap?list=news%26sport",
    "/sitemaps%2F2026.xml",
    "/sitemap%231.xml",
    "/sitemap.xml",
)


def answer(path):
    lines = "".join(f"Sitemap: {server.url}{target}\n" for target in TARGETS)
    return 200, {"Content-Type": "text/plain"}, lines.encode()


with serving(answer) as server:
    rules = RobotFileParser(f"{server.url}/robots.txt")
    rules.read()
    for target, url in zip(TARGETS, rules.site_maps(), strict=True):
        server.log.clear()
        try:
            urlopen(url).close()
        except InvalidURL as error:
            print(f"{target} -> {type(error).__name__}")
        else:
            print(f"{target} -> requested {server.log[0]}", flush=True)
PY
