"""Gets the pages with mechanize for Python, with its defaults."""

import sys
from contextlib import suppress

import mechanize

browser = mechanize.Browser()
for url in sys.argv[1:]:
    with suppress(Exception):  # refused
        browser.open(url, timeout=10)
