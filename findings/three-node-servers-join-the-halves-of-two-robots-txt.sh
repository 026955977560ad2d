#!/usr/bin/env bash
# sirv, serve-handler and Hono continue an old robots.txt with the end of the new one, though If-Range forbids it.
#
# Version: sirv 3.0.2 (SvelteKit's and Vite's), serve-handler 6.1.8 (of "serve") and @hono/node-server 2.1.9 with hono
# 4.13.19, against express 5.3.0 (npm).
# Source: RFC 9110, section 13.1.5: where the value of If-Range does not match, Range is ignored and the whole new file
# is sent; that is the purpose of the field, for downloads that go on after a break.
# Expected: 200 with the new file, as Express sends it.
# Behaviour: the three read Range and not If-Range: 206 with the last bytes of the new file. They send an ETag
# themselves, and compare it in If-None-Match.
# What follows: a client that goes on with a large robots.txt, sitemap or archive has a file that never existed. Here it
# opens the drafts that both versions close.
# Output:
#   express: 200: User-agent: * | Disallow: /cart/ | Disallow: /drafts/
#   sirv: 206: User-agent: * | Disallow: /archive/ | allow: /drafts/
#   serve-handler: 206: User-agent: * | Disallow: /archive/ | allow: /drafts/
#   hono: 206: User-agent: * | Disallow: /archive/ | allow: /drafts/
source "$(dirname "$0")/common.sh"

npm_packages sirv@3.0.2 serve-handler@6.1.8 hono@4.13.19 @hono/node-server@2.1.9 express@5.3.0
cd "$work"
cat >servers.mjs <<'JS'
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import express from 'express';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import handler from 'serve-handler';
import sirv from 'sirv';

const OLD = 'User-agent: *\nDisallow: /archive/\nDisallow: /drafts/\n';
const NEW = 'User-agent: *\nDisallow: /cart/\nDisallow: /drafts/\n';
const RECEIVED = 'User-agent: *\nDisallow: /archive/\n'.length;

mkdirSync('files');
const hono = new Hono().use(etag()).use(serveStatic({ root: './files' }));
const files = sirv('files', { dev: true, etag: true });
const servers = {
  express: express().use(express.static('files')),
  sirv: (request, response) => files(request, response),
  'serve-handler': (request, response) => handler(request, response, { public: 'files', etag: true }),
  hono: getRequestListener(hono.fetch),
};
for (const [name, listener] of Object.entries(servers)) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/robots.txt`;
  writeFileSync('files/robots.txt', OLD);
  const first = await fetch(url);
  const received = (await first.text()).slice(0, RECEIVED);
  writeFileSync('files/robots.txt', NEW);
  const headers = { 'If-Range': first.headers.get('etag').replace(/^W\//, ''), Range: `bytes=${RECEIVED}-` };
  const second = await fetch(url, { headers });
  const text = (second.status === 206 ? received : '') + (await second.text());
  console.log(`${name}: ${second.status}: ${text.trim().split('\n').join(' | ')}`);
}
process.exit();
JS
node servers.mjs | confirm
