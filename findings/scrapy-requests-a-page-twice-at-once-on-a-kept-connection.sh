#!/usr/bin/env bash
# Scrapy with a download delay and without retries requests a page twice within milliseconds.
#
# Version: Scrapy 2.19.0, Twisted 26.10.0 (PyPI).
# Source: Scrapy's documentation of DOWNLOAD_DELAY, "Minimum seconds to wait between 2 consecutive requests
# to the same domain", and of RETRY_ENABLED, whether the middleware that repeats failed requests is on.
# Expected: each page is requested once, a second after the one before; the page whose connection the
# server closes fails.
# Behaviour: connections are kept for further requests. Where such a connection ends without a response,
# Twisted's HTTP client sends the GET again at once, over a new one, below Scrapy's download slots. Scrapy
# counts one request. On a new connection, as that of the first page, no request is sent again.
# What follows: a server that closes a kept connection at its next request gets two requests where a
# Crawl-delay was to be obeyed, and its log has more of them than the stats.
# Output:
#   the server has seen: /1 /2 /2 /3
#   gaps: 1 s, at once, 1 s
#   Scrapy has counted: 3 requests, 3 responses, 0 exceptions
source "$(dirname "$0")/common.sh"

pypi Scrapy==2.19.0 Twisted==26.10.0
"$python" - <<'PY' | confirm
import socketserver
import threading
import time

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

seen = []


class Handler(socketserver.StreamRequestHandler):
    """Keeps connections; closes the one on which the second page is requested first."""

    def handle(self):
        while line := self.rfile.readline():
            path = line.split()[1].decode()
            is_again = path in [path for path, _ in seen]
            seen.append((path, time.monotonic()))
            while self.rfile.readline().strip():
                pass
            if path == "/2" and not is_again:
                return
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


class Pages(Spider):
    name = "pages"
    custom_settings = {
        "DOWNLOAD_DELAY": 1,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CONCURRENT_REQUESTS": 1,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        for number in (1, 2, 3):
            yield Request(f"{url}/{number}")

    def parse(self, response):
        pass


server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
url = f"http://127.0.0.1:{server.server_address[1]}"
threading.Thread(target=server.serve_forever, daemon=True).start()
process = CrawlerProcess({"LOG_ENABLED": False})
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
server.shutdown()
print("the server has seen:", *(path for path, _ in seen))
times = [moment for _, moment in seen]
gaps = [after - before for before, after in zip(times, times[1:])]
print("gaps:", ", ".join("at once" if gap < 0.2 else "1 s" if gap > 0.9 else "?" for gap in gaps))
names = ("request_count", "response_count", "exception_count")
counts = [crawler.stats.get_value(f"downloader/{name}", 0) for name in names]
print("Scrapy has counted: {} requests, {} responses, {} exceptions".format(*counts))
PY
