#!/usr/bin/env bash
# asgi-sitemaps and flask-sitemapper write "&" as it is, and Scrapy makes "?page=1=de" of "?page=1&lang=de".
#
# Version: asgi-sitemaps 1.0.0, flask-sitemapper 1.8.2 with Flask 3.1.0, Scrapy 2.19.0 (PyPI).
# Source: the sitemap protocol: an ampersand in a URL is written "&amp;"; both READMEs: an XML sitemap of
# the paths of an application.
# Expected: a writer escapes the URLs; a reader gets the URL, or an error as from Python's own XML parser.
# Behaviour: neither writer escapes. To Scrapy's reader, which recovers from errors, "&lang" is an entity that it
# does not know: it is dropped, and what follows stays.
# What follows: a crawl requests, and judges by robots.txt, URLs that the site does not have, and no log
# says so.
# Output:
#   asgi-sitemaps: <loc>https://example.com/list?page=1&lang=de</loc>
#   flask-sitemapper: <loc>https://example.com/list?page=1&lang=de</loc>
#   Scrapy reads https://example.com/list?page=1=de, xml.etree: not well-formed (invalid token)
source "$(dirname "$0")/common.sh"

pypi asgi-sitemaps==1.0.0 flask-sitemapper==1.8.2 flask==3.1.0 scrapy==2.19.0
"$python" - <<'PY' | confirm
import asyncio
import re
import xml.etree.ElementTree as ElementTree

import asgi_sitemaps
import flask
from flask_sitemapper import Sitemapper
from scrapy.utils.sitemap import Sitemap


class Pages(asgi_sitemaps.Sitemap):
    def items(self):
        return ["/list?page=1&lang=de"]

    def location(self, item):
        return item


async def of_asgi_sitemaps():
    sent = []

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    application = asgi_sitemaps.SitemapApp(Pages(), domain="example.com")
    await application({"type": "http", "scheme": "https"}, receive, send)
    return sent[1]["body"]


def of_flask_sitemapper():
    application = flask.Flask("site")
    application.config["SERVER_NAME"] = "example.com"
    sitemapper = Sitemapper(application)
    application.add_url_rule("/list", "pages", lambda: "")
    sitemapper.add_endpoint("pages", url_variables={"page": ["1"], "lang": ["de"]})
    application.add_url_rule("/sitemap.xml", "sitemap", sitemapper.generate)
    return application.test_client().get("/sitemap.xml").data


for name, sitemap in (
    ("asgi-sitemaps", asyncio.run(of_asgi_sitemaps())),
    ("flask-sitemapper", of_flask_sitemapper()),
):
    print(f"{name}: {re.search(rb'<loc>.*</loc>', sitemap)[0].decode()}")
    found = [entry["loc"] for entry in Sitemap(sitemap)]
    try:
        ElementTree.fromstring(sitemap)
    except ElementTree.ParseError as error:
        refused = str(error).partition(":")[0]
    outcome = f"Scrapy reads {found[0]}, xml.etree: {refused}"
print(outcome)
PY
