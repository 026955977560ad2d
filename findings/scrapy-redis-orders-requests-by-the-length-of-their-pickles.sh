#!/usr/bin/env bash
# scrapy-redis' priority queue sends requests of equal priority by the length of their pickles.
#
# Version: scrapy-redis 0.9.1, Scrapy 2.19.0 (PyPI); Debian's Redis 7.0.15.
# Source: its default SCHEDULER_QUEUE_CLASS is PriorityQueue; its other two are named FifoQueue and
# LifoQueue; Scrapy's own queues are LIFO within a priority.
# Expected: within a priority the requests leave first in, first out, or last in, first out; a request
# that is pushed twice is sent twice, since filtering is not the queue's part.
# Behaviour: a sorted set of Redis orders members of equal score by their bytes, and a pickled request
# begins with its own length, low byte first: long URLs, whose pickle has 267 bytes or more, come before
# short ones; then by length and alphabet. Equal members are one: the second push is lost.
# What follows: neither depth nor age decides what is crawled first, and a request can wait as long as
# others of a smaller length are found.
# Output:
#   pushed: /about-us, /b, /zoo, /a, /search?q= and 90 letters, /b
#   popped: /search?q= and 90 letters, /a, /b, /zoo, /about-us
source "$(dirname "$0")/common.sh"

debian 'redis-server=5:7.0.15-*' 'redis-tools=5:7.0.15-*'
pypi scrapy-redis==0.9.1 scrapy==2.19.0
cd "$work"
"$python" - <<'PY' | confirm
import subprocess

import redis
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler
from scrapy_redis.queue import PriorityQueue

LONG = "/search?q=" + 90 * "x"
PATHS = ("/about-us", "/b", "/zoo", "/a", LONG, "/b")
command = ["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", ""]
with open("redis.log", "wb") as log:
    process = subprocess.Popen(command, stdout=log, stderr=log)
try:
    server = redis.Redis(
        unix_socket_path="redis.sock", retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 100)
    )
    server.ping()

    class Pages(Spider):
        name = "pages"

    spider = get_crawler(Pages)._create_spider()
    queue = PriorityQueue(server, spider, "%(spider)s:requests")
    for path in PATHS:
        queue.push(Request(f"http://example.com{path}", dont_filter=True))
    popped = []
    while request := queue.pop():
        popped.append(request.url.removeprefix("http://example.com"))
finally:
    process.terminate()
for name, paths in (("pushed", PATHS), ("popped", popped)):
    print(f"{name}:", ", ".join(paths).replace(90 * "x", " and 90 letters"))
PY
