#!/usr/bin/env bash
# ultimate-sitemap-parser reads a robots.txt that disallows everything, and requests 14 pages, one of
# them of Drupal's administration.
#
# Version: ultimate-sitemap-parser 1.8.1 (PyPI).
# Source: its documentation: it reads robots.txt for its Sitemap lines.
# Expected: sitemaps that the file names, perhaps /sitemap.xml; no URL that the same file disallows.
# Behaviour: the rules are not read. It tries a list of names, without a name in the file as with one. A
# comment behind a Sitemap line makes the line void; "Site-map" is accepted.
# Output:
#   Disallow: / -> 14 further requests, /admin/config/search/xmlsitemap among them: True
#   Sitemap: /map.xml with its host -> the map is read: True
#   Site-map: /map.xml with its host -> the map is read: True
#   Sitemap: /map.xml with its host, a comment behind it -> the map is read: False
source "$(dirname "$0")/common.sh"

pypi ultimate-sitemap-parser==1.8.1
"$python" - <<'PY' | confirm
import logging

from loopback import serving
from usp.tree import sitemap_tree_for_homepage

logging.disable(logging.CRITICAL)


def requested(robots):
    """The paths that are requested besides robots.txt."""

    def answer(path):
        if path != "/robots.txt":
            return 404, {}, b""
        return 200, {"Content-Type": "text/plain"}, robots.replace("HOST", server.url).encode()

    with serving(answer) as server:
        sitemap_tree_for_homepage(f"{server.url}/")
        return [path for path in server.log if path != "/robots.txt"]


found = requested("User-agent: *\nDisallow: /\n")
admin = "/admin/config/search/xmlsitemap"
print(f"Disallow: / -> {len(found)} further requests, {admin} among them: {admin in found}")
for field, end in (("Sitemap", ""), ("Site-map", ""), ("Sitemap", " # ours")):
    read = "/map.xml" in requested(f"{field}: HOST/map.xml{end}\n")
    more = ", a comment behind it" if end else ""
    print(f"{field}: /map.xml with its host{more} -> the map is read: {read}")
PY
