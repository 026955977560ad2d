#!/usr/bin/env bash
# trafilatura finds no Sitemap line in a robots.txt of more than 10,000 characters, and guesses names instead.
#
# Version: trafilatura 2.3.1 with lxml_html_clean 0.4.6 (PyPI).
# Source: its documentation of sitemap_search: sitemaps that robots.txt names are read; RFC 9309, section 2.5: a
# parsing limit is at least 500 KiB.
# Expected: all Sitemap lines of the file, or those of its first 500 KiB.
# Behaviour: a file that is longer counts as an error page: none of its lines is read, also at its beginning. The
# search goes on with five names such as /sitemap.xml.
# What follows: shops and encyclopedias with long lists of rules have no sitemap, or an old one under a usual
# name; nothing is logged.
# Output:
#   10,000 characters, Sitemap first: ['https://example.com/map.xml']
#   10,001 characters, Sitemap first: []
source "$(dirname "$0")/common.sh"

pypi trafilatura==2.3.1 lxml_html_clean==0.4.6
"$python" - <<'PY' | confirm
from trafilatura.sitemaps import extract_robots_sitemaps

BEGIN = "Sitemap: https://example.com/map.xml\nUser-agent: *\n"
RULES = "Disallow: /a/\n" * 1000
for length in (10_000, 10_001):
    text = (BEGIN + RULES)[: length - 1] + "\n"
    print(f"{length:,} characters, Sitemap first: {extract_robots_sitemaps(text, 'https://example.com')}")
PY
