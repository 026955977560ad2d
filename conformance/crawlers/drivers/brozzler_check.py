"""Gets the pages that brozzler's check of robots.txt permits, without its browser."""

import sys
from types import SimpleNamespace

import requests
from brozzler.robots import is_permitted_by_robots

site = SimpleNamespace(id=1, ignore_robots=False, user_agent=None, extra_headers=dict)
for url in sys.argv[1:]:
    if is_permitted_by_robots(site, url):
        requests.get(url, timeout=10)
