#!/usr/bin/env bash
# undici's cache deletes a robots.txt when a 304 says that it has not changed.
#
# Version: undici 7.30.2 (npm).
# Source: RFC 9111, section 4.3.4: a 304 freshens the stored response, which can be reused; RFC 9110, section 15.4.5: a
# 304 repeats the Cache-Control of a 200. "max-age=0" with an ETag is what Express, sirv and static hosts send.
# Expected: one transfer of the file, then a conditional request each time: full 304 304 304 304 304.
# Behaviour: the client gets the stored body for the 304, but a Cache-Control in it that wants validation removes that
# body from the cache. A 304 without Cache-Control keeps it.
# What follows: each second request transfers a file that has not changed; the more exact the server, the worse.
# Output:
#   max-age=0, 304 with Cache-Control: full 304 full 304 full 304
#   no-cache, 304 with Cache-Control: full 304 full 304 full 304
#   max-age=0, 304 without Cache-Control: full 304 304 304 304 304
source "$(dirname "$0")/common.sh"

npm_packages undici@7.30.2
cd "$work"
cat >client.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent, interceptors, request } from 'undici';

async function show(directive, repeated) {
  const answers = [];
  const server = createServer((incoming, response) => {
    const unchanged = incoming.headers['if-none-match'] === '"1"';
    answers.push(unchanged ? '304' : 'full');
    response.setHeader('ETag', '"1"');
    if (!unchanged || repeated) response.setHeader('Cache-Control', directive);
    response.writeHead(unchanged ? 304 : 200);
    response.end(unchanged ? undefined : 'User-agent: *\nDisallow: /private/\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dispatcher = new Agent().compose(interceptors.cache());
  const url = `http://127.0.0.1:${server.address().port}/robots.txt`;
  for (let number = 0; number < 6; number += 1) {
    const { body, statusCode } = await request(url, { dispatcher });
    if (statusCode !== 200 || !(await body.text()).includes('/private/')) throw new Error('another answer');
  }
  console.log(`${directive}, 304 with${repeated ? '' : 'out'} Cache-Control: ${answers.join(' ')}`);
}

await show('max-age=0', true);
await show('no-cache', true);
await show('max-age=0', false);
process.exit();
JS
node client.mjs | confirm
