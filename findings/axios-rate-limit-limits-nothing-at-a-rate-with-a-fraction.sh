#!/usr/bin/env bash
# axios-rate-limit sends all requests at once if a rate is half a request, or two and a half, per second.
#
# Version: axios-rate-limit 1.9.0 with axios 1.21.1 (npm).
# Source: its typings and README: maxRPS and maxRequests are numbers; a value that is not positive is an error.
# Expected: a crawl delay of 2 s as maxRPS: 0.5 lets a request through in two seconds, or is refused as an option.
# Behaviour: the limit counts as reached where the count equals it. No count equals a fraction, so none is reached,
# and getMaxRPS() returns the rate that was set.
# What follows: the more careful rate is the one without any limit. In whole numbers the rate holds.
# Output:
#   maxRPS 1: 1 of 20 requests in the first 900 ms
#   maxRPS 0.5: 20 of 20 requests in the first 900 ms
#   maxRPS 2.5: 20 of 20 requests in the first 900 ms
#   1 request in '2s': 1 of 20 requests in the first 900 ms
source "$(dirname "$0")/common.sh"

npm_packages axios-rate-limit@1.9.0 axios@1.21.1
cd "$work"
cat >ask.mjs <<'JS'
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import limited from 'axios-rate-limit';

const cases = {
  'maxRPS 1': { maxRPS: 1 },
  'maxRPS 0.5': { maxRPS: 0.5 },
  'maxRPS 2.5': { maxRPS: 2.5 },
  "1 request in '2s'": { limits: [{ maxRequests: 1, duration: '2s' }] },
};
const counts = {};
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.slice(1));
  counts[name] = (counts[name] ?? 0) + 1;
  response.end();
});
server.listen(0, '127.0.0.1', async () => {
  for (const [name, options] of Object.entries(cases)) {
    const client = limited(axios.create(), options);
    for (let number = 0; number < 20; number++) {
      client.get(`http://127.0.0.1:${server.address().port}/${encodeURIComponent(name)}`).catch(() => {});
    }
    await sleep(900);
    console.log(`${name}: ${counts[name]} of 20 requests in the first 900 ms`);
  }
  process.exit();
});
JS
node ask.mjs | confirm
