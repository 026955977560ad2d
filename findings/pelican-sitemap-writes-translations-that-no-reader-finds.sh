#!/usr/bin/env bash
# pelican-sitemap writes the translations of a page into an attribute "ref", where every reader looks for "href".
#
# Version: pelican-sitemap 1.2.2, pelican 4.12.0 and markdown 3.10; read by Scrapy 2.19.0 (PyPI).
# Source: Google's page on localized versions in sitemaps: an xhtml:link has rel="alternate", hreflang and href; the
# plugin's README: translations of a page are listed.
# Expected: the German page as an alternate of the English one.
# Behaviour: language and address are right, and the address is the value of an attribute that XHTML does not
# have. The sitemap is well-formed, and no reader reports anything.
# What follows: no search engine knows that the pages are translations, and a crawl with sitemap_alternate_links has
# none of those that are named as alternates alone.
# Output:
#   xhtml:link: rel alternate, hreflang de, ref https://example.com/hello-de.html
#   Scrapy: https://example.com/hello.html, alternates []
source "$(dirname "$0")/common.sh"

pypi pelican-sitemap==1.2.2 pelican==4.12.0 markdown==3.10 scrapy==2.19.0
cd "$work"
mkdir content
printf 'Title: Hello\nDate: 2026-01-12\nSlug: hello\nLang: en\n\nText\n' >content/hello.md
printf 'Title: Hallo\nDate: 2026-01-12\nSlug: hello\nLang: de\n\nText\n' >content/hallo.md
cat >pelicanconf.py <<'PY'
SITEURL = "https://example.com"
SITENAME = AUTHOR = "Example"
TIMEZONE = "UTC"
DEFAULT_LANG = "en"
PLUGINS = ["pelican.plugins.sitemap"]
SITEMAP = {"format": "xml"}
PY
pelican content -o output -s pelicanconf.py >"$work/log" 2>&1 || { tail -5 "$work/log"; exit 2; }
"$python" - <<'PY' | confirm
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from scrapy.utils.sitemap import Sitemap

sitemap = Path("output/sitemap.xml").read_bytes()
for page in ElementTree.fromstring(sitemap):
    if page[0].text == "https://example.com/hello.html":
        for link in page.iter("{http://www.w3.org/1999/xhtml}link"):
            attributes = ", ".join(f"{name} {value}" for name, value in link.attrib.items())
            print(f"xhtml:link: {attributes}")
for page in Sitemap(sitemap):
    if page["loc"] == "https://example.com/hello.html":
        print(f"Scrapy: {page['loc']}, alternates {page.get('alternate', [])}")
PY
