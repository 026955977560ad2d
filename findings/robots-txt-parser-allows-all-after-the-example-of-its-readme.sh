#!/usr/bin/env bash
# robots-txt-parser allows each page of a site whose robots.txt it has fetched for the URL of a page.
#
# Version: robots-txt-parser 2.0.3 (npm); its connections are led to a server on loopback.
# Source: its README: useRobotsFor takes any URL, with the example https://example.com/news, and canCrawl fetches the
# robots.txt of a site that is not in the cache before it answers.
# Expected: a file with "Disallow: /private/" forbids /private/page, however the site was named.
# Behaviour: the rules are stored by scheme and host, and looked up by the URL as it was passed. With a path, and be it
# "/", nothing is found, and all is allowed without a delay. Once the file is in the cache, naming the site again finds
# it; canCrawl alone never does.
# What follows: a crawler that asks canCrawl before each page, as one would, obeys nothing, and logs nothing.
# Output:
#   useRobotsFor http://example.com: canCrawl /private/page false, delay 5
#   useRobotsFor http://example.com/: canCrawl /private/page true, delay 0
#   useRobotsFor http://example.com/news: canCrawl /private/page true, delay 0
#   useRobotsFor http://example.com/news, twice: canCrawl /private/page false, delay 5
#   no useRobotsFor: canCrawl /private/page true, delay 0
#   no useRobotsFor, the second time: canCrawl /private/page true, delay 0
source "$(dirname "$0")/common.sh"

npm_packages robots-txt-parser@2.0.3
cd "$work"
cat >ask.cjs <<'JS'
const http = require('node:http');
const net = require('node:net');
const robotsParser = require('robots-txt-parser');

const page = 'http://example.com/private/page';
const server = http.createServer((request, response) => {
  response.end('User-agent: *\nCrawl-delay: 5\nDisallow: /private/\n');
});
server.listen(0, '127.0.0.1', async () => {
  http.globalAgent.createConnection = () => net.connect(server.address().port, '127.0.0.1');
  const show = async (name, robots) =>
    console.log(`${name}: canCrawl /private/page ${await robots.canCrawl(page)}, delay ${robots.getCrawlDelaySync()}`);
  for (const path of ['', '/', '/news']) {
    const robots = robotsParser({ userAgent: 'examplebot' });
    await robots.useRobotsFor(`http://example.com${path}`);
    await show(`useRobotsFor http://example.com${path}`, robots);
    if (path !== '/news') continue;
    await robots.useRobotsFor(`http://example.com${path}`);
    await show(`useRobotsFor http://example.com${path}, twice`, robots);
  }
  const robots = robotsParser({ userAgent: 'examplebot' });
  await show('no useRobotsFor', robots);
  await show('no useRobotsFor, the second time', robots);
  process.exit();
});
JS
node ask.cjs | confirm
