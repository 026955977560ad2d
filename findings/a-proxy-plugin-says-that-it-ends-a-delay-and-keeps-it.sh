#!/usr/bin/env bash
# scrapy-zyte-smartproxy logs that it disables download delays, and the crawl keeps them.
#
# Version: scrapy-zyte-smartproxy 2.4.1 with Scrapy 2.19.0, and with 2.17.0 (PyPI).
# Source: its log line "disabling download delays in Scrapy to optimize delays introduced by Zyte proxy
# services. To avoid this behaviour you can use the ZYTE_SMARTPROXY_PRESERVE_DELAY setting".
# Expected: without that setting pages follow each other at once.
# Behaviour: it sets the spider's attribute download_delay when the spider is opened. Scrapy 2.18 and
# later read that attribute once, before any component is made, and say nothing of a later change.
# What follows: the DOWNLOAD_DELAY = 1 that "scrapy startproject" writes stays in force below the line that
# says otherwise, and after an update of Scrapy 100,000 pages take 28 hours.
# Output:
#   Scrapy 2.17.0: "disabling download delays in Scrapy"; 3 gaps between pages, 0 of them of two seconds
#   Scrapy 2.19.0: "disabling download delays in Scrapy"; 3 gaps between pages, 3 of them of two seconds
source "$(dirname "$0")/common.sh"

cat >"$work/crawl.py" <<'PY'
import io
import logging
import time
from itertools import pairwise

import scrapy
from loopback import serving
from scrapy.crawler import CrawlerProcess

times = []


def answer(path):
    times.append(time.monotonic())
    return 200, {"Content-Type": "text/html"}, b"page"


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [f"http://shop.example/{number}" for number in range(4)]

    def parse(self, response):
        pass


log = io.StringIO()
logging.basicConfig(stream=log, level=logging.INFO)
with serving(answer) as proxy:
    settings = {
        "DOWNLOAD_DELAY": 2,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "DOWNLOADER_MIDDLEWARES": {"scrapy_zyte_smartproxy.ZyteSmartProxyMiddleware": 610},
        "ZYTE_SMARTPROXY_ENABLED": True,
        "ZYTE_SMARTPROXY_APIKEY": "key",
        "ZYTE_SMARTPROXY_URL": proxy.url,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "INFO",
    }
    process = CrawlerProcess(settings, install_root_handler=False)
    process.crawl(Pages)
    process.start()
claim = "disabling download delays in Scrapy"
assert claim in log.getvalue(), log.getvalue()
gaps = [after - before for before, after in pairwise(times)]
long = sum(gap > 1.5 for gap in gaps)
print(f'Scrapy {scrapy.__version__}: "{claim}"; {len(gaps)} gaps between pages, {long} of them of two seconds')
PY
for version in 2.17.0 2.19.0; do
    pypi scrapy-zyte-smartproxy==2.4.1 scrapy==$version
    "$python" "$work/crawl.py" 2>"$work/log" || { tail -5 "$work/log" >&2; exit 2; }
done | confirm
