#!/usr/bin/env bash
# axios-cache-interceptor keeps "max-age=1, immutable" for a year.
#
# Version: axios-cache-interceptor 1.12.3 with axios 1.21.1 (npm), its defaults.
# Source: RFC 8246, section 2: a response with "immutable" is not updated during its freshness lifetime; the lifetime is
# that of max-age (RFC 9111, section 4.2.1). Its documentation: the lifetime comes from Cache-Control, Age and Expires.
# Expected: a second, and no request of its own within it.
# Behaviour: the word alone sets the lifetime, to 365 days. max-age, Age and Expires beside it are not read.
# What follows: a server that adds "immutable" to all its static files gives each a lifetime, and robots.txt a short
# one; a crawler with this cache obeys the rules of last year, and a restart alone ends them.
# Output:
#   max-age=1: second request after 2 s: from the cache false, Disallow: /new/
#   max-age=1, immutable: second request after 2 s: from the cache true, Disallow: /old/
#   max-age=1, immutable: lifetime 365 days
source "$(dirname "$0")/common.sh"

npm_packages axios@1.21.1 axios-cache-interceptor@1.12.3
cd "$work"
cat >ask.mjs <<'JS'
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import axios from 'axios';
import { setupCache } from 'axios-cache-interceptor';

let rules;
let lifetime;
const server = http.createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': lifetime });
  response.end(`User-agent: *\nDisallow: ${rules}\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/robots.txt`;
for (lifetime of ['max-age=1', 'max-age=1, immutable']) {
  const client = setupCache(axios.create());
  rules = '/old/';
  const first = await client.get(url);
  rules = '/new/';
  await setTimeout(2000);
  const { cached, data } = await client.get(url);
  console.log(`${lifetime}: second request after 2 s: from the cache ${cached}, ${data.split('\n')[1]}`);
  if (cached) console.log(`${lifetime}: lifetime ${(await client.storage.get(first.id)).ttl / 86400000} days`);
}
server.close();
process.exit();
JS
node ask.mjs | confirm
