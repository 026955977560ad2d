#!/usr/bin/env bash
# got and undici wait five hours too long in New York, and not at all in Tokyo, for a Retry-After without "GMT".
#
# Version: got 14.6.6 and undici 7.30.2 (npm).
# Source: RFC 9110, section 5.6.7: a recipient must accept the three forms of an HTTP date, among them
# "Sun Nov  6 08:49:37 1994", which is in UTC as well; section 10.2.3: Retry-After may be such a date.
# Expected: the request for a robots.txt that answers 503 is repeated after that moment, wherever the client is.
# Behaviour: Date.parse() takes the form for a local time, since it names no zone.
# What follows: a crawler comes back before the time that the server asked for, or hours after it.
# Output:
#   got, UTC: after the time
#   got, America/New_York: not within 8 s
#   got, Asia/Tokyo: before the time
#   undici, UTC: after the time
#   undici, America/New_York: not within 8 s
#   undici, Asia/Tokyo: before the time
source "$(dirname "$0")/common.sh"

npm_packages got@14.6.6 undici@7.30.2
cd "$work"
cat >ask.mjs <<'JS'
import http from 'node:http';
import got from 'got';
import { Agent, RetryAgent, fetch } from 'undici';

const CLIENTS = {
  got: (url) => got(url, { retry: { limit: 1 } }),
  undici: (url) => fetch(url, { dispatcher: new RetryAgent(new Agent(), { maxRetries: 1, statusCodes: [503] }) }),
};
// Four to five seconds from now, in whole seconds.
const moment = Math.floor(Date.now() / 1000) * 1000 + 5000;
const [, day, date, month, year, time] = /(\w+), (\d+) (\w+) (\d+) (\S+)/.exec(new Date(moment).toUTCString());
const retryAfter = `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year}`;

let requests = 0;
const server = http.createServer((request, response) => {
  requests += 1;
  if (requests === 1) {
    response.writeHead(503, { 'Retry-After': retryAfter });
    response.end();
    return;
  }
  // A timer may end a millisecond early.
  finish(Date.now() < moment - 100 ? 'before the time' : 'after the time');
});

function finish(outcome) {
  console.log(`${process.argv[2]}, ${process.env.TZ}: ${outcome}`);
  process.exit();
}

setTimeout(finish, 8000, 'not within 8 s');
server.listen(0, '127.0.0.1', () => {
  CLIENTS[process.argv[2]](`http://127.0.0.1:${server.address().port}/robots.txt`).catch(() => {});
});
JS
for client in got undici; do
    for zone in UTC America/New_York Asia/Tokyo; do
        TZ=$zone node ask.mjs "$client"
    done
done | confirm
