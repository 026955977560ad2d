#!/usr/bin/env bash
# make-fetch-happen answers with the 500 of a robots.txt, not with its stale copy as it says.
#
# Version: make-fetch-happen 15.0.6 (npm), the HTTP client of npm itself.
# Source: its README, option "cache", value "default": if a revalidation fails, for example on a 500 or offline, the
# stale response is returned.
# Expected: the stored file for the 500, as for a connection that is cut.
# Behaviour: only a request without an answer is a failure. A 500 or 503 is an answer like others and is passed on; the
# copy stays in the cache, and serves the next request that the site confirms.
# What follows: who relies on the sentence is told that a site is down, with the rules in the cache; a crawler that
# takes a 5xx for "no rules" then fetches all.
# Output:
#   200 with the rules, miss
#   500: 500 without the rules, skip
#   503: 503 without the rules, skip
#   cut connection: 200 with the rules, stale
#   304: 200 with the rules, revalidated
source "$(dirname "$0")/common.sh"

npm_packages make-fetch-happen@15.0.6
cd "$work"
cat >client.cjs <<'JS'
const { createServer } = require('node:http');
const { defaults } = require('make-fetch-happen');

const fetch = defaults({ cachePath: './cache' });
let failure = null;
const server = createServer((request, response) => {
  if (failure === 'cut connection') return request.socket.destroy();
  if (failure) return response.writeHead(failure).end('down');
  response.setHeader('Cache-Control', 'max-age=0');
  response.setHeader('ETag', '"1"');
  if (request.headers['if-none-match']) return response.writeHead(304).end();
  return response.end('User-agent: *\nDisallow: /private/\n');
});

async function show(prefix) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/robots.txt`);
  const rules = (await response.text()).includes('/private/') ? 'with' : 'without';
  console.log(`${prefix}${response.status} ${rules} the rules, ${response.headers.get('x-local-cache-status')}`);
}

server.listen(0, '127.0.0.1', async () => {
  await show('');
  for (failure of [500, 503, 'cut connection']) await show(`${failure}: `);
  failure = null;
  await show('304: ');
  process.exit();
});
JS
node client.cjs | confirm
