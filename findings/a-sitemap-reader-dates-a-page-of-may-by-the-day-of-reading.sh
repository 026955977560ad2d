#!/usr/bin/env bash
# ultimate-sitemap-parser reads a last modification of "2024-05" as a day that depends on today's.
#
# Version: ultimate-sitemap-parser 1.8.1 (PyPI) with Python 3.11; the clock by Debian's libfaketime.
# Source: the sitemap protocol: lastmod is in W3C Datetime format, in which a year, or a year and a month, are
# complete values; the module's docstrings name ISO 8601.
# Expected: the first of May, the first of January, or no date.
# Behaviour: from Python 3.11 on the parser tries datetime.fromisoformat, which takes no such value, and then
# dateutil's reader of free text, which fills in what is missing from today's date.
# What follows: a crawl that asks for pages that are newer than its last visit finds a page of May modified
# each day of the month anew, and one of 2024 in the month of the crawl.
# Output:
#   5 November 2026: 2024-05 -> 2024-05-05, 2024 -> 2024-11-05, 2024-05-07 -> 2024-05-07
#   6 November 2026: 2024-05 -> 2024-05-06, 2024 -> 2024-11-06, 2024-05-07 -> 2024-05-07
#   31 December 2026: 2024-05 -> 2024-05-31, 2024 -> 2024-12-31, 2024-05-07 -> 2024-05-07
source "$(dirname "$0")/common.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 is needed"; exit 2; }
debian 'libfaketime=0.9.10-*'
pypi ultimate-sitemap-parser==1.8.1 python-dateutil==2.9.0.post0
cat >"$work/read.py" <<'PY'
import logging
from datetime import datetime

from loopback import serving
from usp.fetch_parse import SitemapFetcher
from usp.web_client.requests_client import RequestsWebClient

logging.disable()
VALUES = ("2024-05", "2024", "2024-05-07")
SITEMAP = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + "".join(f"<url><loc>https://example.com/{each}</loc><lastmod>{each}</lastmod></url>" for each in VALUES)
    + "</urlset>\n"
)

with serving(lambda path: (200, {"Content-Type": "application/xml"}, SITEMAP.encode())) as server:
    fetcher = SitemapFetcher(f"{server.url}/sitemap.xml", 0, RequestsWebClient())
    pages = list(fetcher.sitemap().all_pages())
today = datetime.now()
dates = (f"{value} -> {page.last_modified:%Y-%m-%d}" for value, page in zip(VALUES, pages, strict=True))
print(f"{today.day} {today:%B %Y}: {', '.join(dates)}")
PY
clock=$(find "$ROOT" -name libfaketime.so.1)
export FAKETIME_DONT_FAKE_MONOTONIC=1
for day in 2026-11-05 2026-11-06 2026-12-31; do
    TZ=UTC LD_PRELOAD=$clock FAKETIME="@$day 12:00:00" "$python" "$work/read.py"
done | confirm
