#!/usr/bin/env bash
# got keeps a robots.txt with "No-Store", and a "Max-Age=0" for a day.
#
# Version: got 14.6.6 with http-cache-semantics 4.3.0 (npm), which npm itself uses, too.
# Source: RFC 9111, section 5.2: names of cache directives are compared case-insensitively; the README of
# http-cache-semantics: it understands that RFC's headers.
# Expected: each spelling has the effect of the one in lower case.
# Behaviour: other spellings are unknown directives. A Last-Modified then gives the lifetime, a tenth of the
# file's age; in "Max-Age=60" and no Last-Modified there is none, and each request reaches the server.
# What follows: rules that are new today are read tomorrow.
# Output:
#   max-age=60: 1 of 3 requests reach the server
#   no-store: 3, No-Store: 1
#   no-cache: 3, No-Cache: 1
#   max-age=0: 3, Max-Age=0: 1
source "$(dirname "$0")/common.sh"

npm_packages got@14.6.6 http-cache-semantics@4.3.0
cd "$work"
cat >ask.mjs <<'JS'
import http from 'node:http';
import got from 'got';

const TEN_DAYS = 10 * 24 * 3600 * 1000;
let requests = 0;
const server = http.createServer((request, response) => {
  requests += 1;
  response.writeHead(200, {
    'Content-Type': 'text/plain',
    'Last-Modified': new Date(Date.now() - TEN_DAYS).toUTCString(),
    'Cache-Control': decodeURIComponent(request.url.slice(1)),
  });
  response.end('User-agent: *\nDisallow: /private/\n');
});

async function count(directive) {
  const cache = new Map();
  requests = 0;
  for (let number = 0; number < 3; number++) {
    await got(`http://127.0.0.1:${server.address().port}/${encodeURIComponent(directive)}`, { cache });
  }
  return requests;
}

server.listen(0, '127.0.0.1', async () => {
  console.log(`max-age=60: ${await count('max-age=60')} of 3 requests reach the server`);
  for (const [lower, other] of [['no-store', 'No-Store'], ['no-cache', 'No-Cache'], ['max-age=0', 'Max-Age=0']]) {
    console.log(`${lower}: ${await count(lower)}, ${other}: ${await count(other)}`);
  }
  process.exit();
});
JS
node ask.mjs | confirm
