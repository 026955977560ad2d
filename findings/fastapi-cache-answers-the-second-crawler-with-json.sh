#!/usr/bin/env bash
# fastapi-cache sends robots.txt as text to the first crawler, and as a JSON object to all others.
#
# Version: fastapi-cache2 0.2.2 with FastAPI 0.121.3, Starlette 0.50.0 and uvicorn 0.38.0 (PyPI).
# Source: its README: the decorator caches "a FastAPI response transparently"; a return annotation makes a
# cached result the class that it was.
# Expected: an endpoint that returns PlainTextResponse, and is annotated so, answers alike from the cache.
# Behaviour: the first request gets the response. The cache keeps its attributes as JSON, and from then on
# the answer is that object: status 200, application/json, the rules within a string.
# A function that returns the text itself, with response_class, answers alike.
# What follows: whoever looks once after a restart sees the file; crawlers get a file without a rule.
# Output:
#   returns PlainTextResponse, request 1: text/plain, "Disallow: /private/" is a line: True
#   returns PlainTextResponse, request 2: application/json, "Disallow: /private/" is a line: False
#   returns str, request 1: text/plain, "Disallow: /private/" is a line: True
#   returns str, request 2: text/plain, "Disallow: /private/" is a line: True
source "$(dirname "$0")/common.sh"

pypi fastapi-cache2==0.2.2 fastapi==0.121.3 starlette==0.50.0 uvicorn==0.38.0
"$python" - <<'PY' 2>"$work/errors" | confirm
import os
import socket
import threading
import time
import urllib.request

import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from fastapi_cache import FastAPICache
from fastapi_cache.backends.inmemory import InMemoryBackend
from fastapi_cache.decorator import cache

ROBOTS = "User-agent: *\nDisallow: /private/\n"
FastAPICache.init(InMemoryBackend())


def site(found, **options):
    application = FastAPI()

    @application.get("/robots.txt", **options)
    @cache(expire=3600, namespace=type(found).__name__)
    async def robots() -> type(found):
        return found

    return application


for found, options in (
    (PlainTextResponse(ROBOTS), {}),
    (ROBOTS, {"response_class": PlainTextResponse}),
):
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(site(found, **options), log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    for number in (1, 2):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/robots.txt"
        with urllib.request.urlopen(url, timeout=10) as answer:
            lines = answer.read().decode().splitlines()
            kind = answer.headers.get_content_type()
        rule = "Disallow: /private/" in lines
        name = type(found).__name__
        print(f'returns {name}, request {number}: {kind}, "Disallow: /private/" is a line: {rule}', flush=True)
os._exit(0)
PY
