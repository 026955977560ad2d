#!/usr/bin/env bash
# Flask-Limiter and koa-ratelimit refuse a crawler again that has waited as long as they said, and say Retry-After: 0.
#
# Version: Flask-Limiter 4.1.1 with Flask 3.1.3, against quart-rate-limiter 0.12.1 (PyPI); koa-ratelimit 6.0.0 with koa
# 3.3.0, against express-rate-limit 8.7.4 with express 5.3.0 (npm); one request in four seconds, in memory.
# Source: RFC 6585, section 4: Retry-After says how long to wait before a new request; RFC 9110, section 10.2.3: seconds
# to delay after the response.
# Expected: a request after that time is answered.
# Behaviour: the time that is left is rounded down. After 3 of 3.7 seconds the request is refused, and for the rest of
# the last second with a 0, which allows the next request at once. With Flask-Limiter it depends on the clock: the end of
# the window is rounded before, so a window that begins late in a second is affected, and an early one is not.
# What follows: a crawler that obeys to the letter is refused twice or more in each window, and each refusal counts as
# a failed attempt. One whose pauses only ever grow is let in at its second return.
# Output:
#   Flask-Limiter, window from .75: refused with Retry-After 3; after that time refused with Retry-After 0; a second later answered
#   quart-rate-limiter: refused with Retry-After 4; after that time answered
#   koa-ratelimit: refused with Retry-After 3; after that time refused with Retry-After 0; a second later answered
#   express-rate-limit: refused with Retry-After 4; after that time answered
source "$(dirname "$0")/common.sh"

pypi flask-limiter==4.1.1 flask==3.1.3 limits==5.8.0 quart-rate-limiter==0.12.1 quart==0.22.0
npm_packages koa-ratelimit@6.0.0 koa@3.3.0 express-rate-limit@8.7.4 express@5.3.0
cd "$work"
cat >limited.py <<'PY'
import asyncio
import time
from datetime import timedelta

from flask import Flask
from flask_limiter import Limiter
from quart import Quart
from quart_rate_limiter import RateLimiter, rate_limit


async def visit(name, get):
    status, _ = await get()
    assert status == 200
    await asyncio.sleep(0.3)
    status, after = await get()
    story = f"{name}: refused with Retry-After {after}; after that time "
    await asyncio.sleep(float(after))
    status, after = await get()
    if status == 429:
        story += f"refused with Retry-After {after}; a second later "
        await asyncio.sleep(1)
        status, after = await get()
    print(story + ("answered" if status == 200 else f"refused with Retry-After {after}"))


flask, quart = Flask("flask"), Quart("quart")
Limiter(lambda: "all", app=flask, default_limits=["1/4seconds"], headers_enabled=True, storage_uri="memory://")
flask.get("/")(lambda: "Page")
RateLimiter(quart)


@quart.get("/")
@rate_limit(1, timedelta(seconds=4))
async def page():
    return "Page"


async def from_flask():
    response = flask.test_client().get("/")
    return response.status_code, response.headers.get("Retry-After")


async def from_quart():
    response = await quart.test_client().get("/")
    return response.status_code, response.headers.get("Retry-After")


async def main():
    await asyncio.sleep((0.75 - time.time()) % 1)
    await visit("Flask-Limiter, window from .75", from_flask)
    await visit("quart-rate-limiter", from_quart)


asyncio.run(main())
PY
cat >limited.mjs <<'JS'
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import Koa from 'koa';
import ratelimit from 'koa-ratelimit';

const koa = new Koa();
koa.use(ratelimit({ driver: 'memory', db: new Map(), duration: 4000, max: 1, id: () => 'all' }));
koa.use((context) => (context.body = 'Page'));
const app = express();
app.use(rateLimit({ windowMs: 4000, limit: 1 }));
app.get('/', (request, response) => response.send('Page'));

for (const [name, handler] of [['koa-ratelimit', koa.callback()], ['express-rate-limit', app]]) {
  const server = http.createServer(handler);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const get = async () => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
    await response.text();
    return [response.status, response.headers.get('retry-after')];
  };
  await get();
  await sleep(300);
  let [status, after] = await get();
  let story = `${name}: refused with Retry-After ${after}; after that time `;
  await sleep(1000 * after);
  [status, after] = await get();
  if (status === 429) {
    story += `refused with Retry-After ${after}; a second later `;
    await sleep(1000);
    [status, after] = await get();
  }
  console.log(story + (status === 200 ? 'answered' : `refused with Retry-After ${after}`));
}
process.exit();
JS
{ "$python" limited.py; node limited.mjs; } 2>"$work/errors" | confirm
