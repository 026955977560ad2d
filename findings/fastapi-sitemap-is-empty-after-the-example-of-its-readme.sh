#!/usr/bin/env bash
# fastapi-sitemap serves a sitemap without a page when it is used in the order of its README.
#
# Version: fastapi-sitemap 1.0.4 with fastapi 0.115.14 (PyPI), the newest that it takes.
# Source: its README: SiteMap is made and attached right behind the application ("now GET /sitemap.xml is live"), and a
# source of further URLs is added behind that.
# Expected: a file that is made for each request, or at least once all routes are known.
# Behaviour: attach() writes the file at once. Routes and sources that follow are never in it; a source that reads a
# database is asked once, at the start. Without a date of its own each page is dated by that day.
# What follows: a site that follows the README is announced as empty, one that attaches last as changed with each start,
# and a crawler that goes by dates fetches all of it again.
# Output:
#   in the order of the README: no page
#   attached behind the routes: /about, dated by the day of the start
#   attached last: /about, dated by the day of the start; /news/1, dated 2024-01-01
#   the last one, with a new page in the source: /about, dated by the day of the start; /news/1, dated 2024-01-01
source "$(dirname "$0")/common.sh"

pypi fastapi-sitemap==1.0.4 fastapi==0.115.14 starlette==0.46.2 httpx==0.28.1
"$python" -W ignore - <<'PY' | confirm
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone

from fastapi import FastAPI
from fastapi.testclient import TestClient
from fastapi_sitemap import SiteMap, URLInfo

SITE = "https://example.com"
NAMES = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}


def site(order):
    app = FastAPI()
    sitemap = SiteMap(app=app, base_url=SITE)
    news = ["/news/1"]

    def attach():
        sitemap.attach()

    def route():
        app.get("/about")(lambda: "a page")

    def source():
        sitemap.source(lambda: [URLInfo(SITE + path, lastmod="2024-01-01") for path in news])

    for step in order:
        {"attach": attach, "route": route, "source": source}[step]()
    return TestClient(app), news


def show(name, client):
    days = {day, datetime.now(timezone.utc).date().isoformat()}
    found = []
    for url in ElementTree.fromstring(client.get("/sitemap.xml").content).findall("s:url", NAMES):
        path, date = url.findtext("s:loc", None, NAMES).removeprefix(SITE), url.findtext("s:lastmod", None, NAMES)
        found.append(f"{path}, dated {'by the day of the start' if date in days else date}")
    print(f"{name}: {'; '.join(found) or 'no page'}")


day = datetime.now(timezone.utc).date().isoformat()
show("in the order of the README", site(["attach", "route", "source"])[0])
show("attached behind the routes", site(["route", "attach", "source"])[0])
client, news = site(["route", "source", "attach"])
show("attached last", client)
news.append("/news/2")
show("the last one, with a new page in the source", client)
PY
