#!/usr/bin/env bash
# simplecrawler follows the links of a page with "nofollow" if a meta element for the viewport stands before it.
#
# Version: simplecrawler 1.1.9 (npm), its defaults, which obey robots.txt.
# Source: its README: respectRobotsTxt covers robots.txt and meta elements that specify "nofollow" for robots.
# Expected: the element with the name "robots" counts, wherever it stands.
# Behaviour: that there is one switches the check on; the value is then taken from the first meta element of the page
# that has a content.
# What follows: each page that is made for telephones begins with a viewport, so its "nofollow" is overlooked. A page
# with "index, follow" whose description has the word is not followed.
# Output:
#   robots "nofollow": link requested false
#   charset, robots "nofollow": link requested false
#   viewport, robots "nofollow": link requested true
#   robots "nofollow", viewport: link requested false
#   description "What nofollow means", robots "index, follow": link requested false
source "$(dirname "$0")/common.sh"

npm_packages simplecrawler@1.1.9
cd "$work"
cat >crawl.cjs <<'JS'
const http = require('node:http');
const Crawler = require('simplecrawler');

const robots = '<meta name="robots" content="nofollow">';
const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';
const description = '<meta name="description" content="What nofollow means">';
const heads = {
  'robots "nofollow"': robots,
  'charset, robots "nofollow"': `<meta charset="utf-8">${robots}`,
  'viewport, robots "nofollow"': viewport + robots,
  'robots "nofollow", viewport': robots + viewport,
  'description "What nofollow means", robots "index, follow"': `${description}<meta name="robots" content="index, follow">`,
};
let head, requested;
const server = http.createServer((request, response) => {
  requested.push(request.url);
  if (request.url === '/robots.txt') response.statusCode = 404;
  response.setHeader('Content-Type', 'text/html');
  response.end(`<html><head>${head}</head><body><a href="/linked">Link</a></body></html>`);
});
server.listen(0, '127.0.0.1', async () => {
  for (const name of Object.keys(heads)) {
    [head, requested] = [heads[name], []];
    await new Promise((done) => {
      const crawler = new Crawler(`http://127.0.0.1:${server.address().port}/`);
      crawler.interval = 10;
      crawler.on('complete', done);
      crawler.start();
    });
    console.log(`${name}: link requested ${requested.includes('/linked')}`);
  }
  process.exit();
});
JS
node crawl.cjs | confirm
