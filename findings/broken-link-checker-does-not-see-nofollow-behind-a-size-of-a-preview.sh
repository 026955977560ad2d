#!/usr/bin/env bash
# broken-link-checker follows the links of a page that says "max-image-preview:large, nofollow".
#
# Version: broken-link-checker 0.7.8 (npm), with its reader of meta robots, robot-directives 0.3.0.
# Source: its README: "Honors robot exclusions", and links are skipped that a meta element excludes; Google's page on
# meta robots: directives are separated by commas, in any order, and max-image-preview is one of them. WordPress
# writes that one by itself, in front of what a plugin adds.
# Expected: the order of directives changes nothing; an unknown one is ignored.
# Behaviour: a first word with a colon is taken for a prefix of the whole list, as "unavailable_after:" is one, and of
# an unknown prefix all is dropped. The same word behind "nofollow" is ignored alone.
# What follows: one directive about previews opens a page whose links nobody should follow.
# Output:
#   nofollow: links not followed
#   nofollow, max-image-preview:large: links not followed
#   max-image-preview:large, nofollow: links followed
#   max-snippet:-1, none: links followed
source "$(dirname "$0")/common.sh"

npm_packages broken-link-checker@0.7.8
cd "$work"
cat >check.cjs <<'JS'
const http = require('node:http');
const { SiteChecker } = require('broken-link-checker');

const pages = {
  '/1': 'nofollow',
  '/2': 'nofollow, max-image-preview:large',
  '/3': 'max-image-preview:large, nofollow',
  '/4': 'max-snippet:-1, none',
};
const requested = new Set();
const head = (content) => (content ? `<meta name="robots" content="${content}">` : '');
const server = http.createServer((request, response) => {
  requested.add(request.url);
  const links = request.url === '/' ? Object.keys(pages) : pages[request.url] ? [`${request.url}/below`] : [];
  response.writeHead(request.url === '/robots.txt' ? 404 : 200, { 'Content-Type': 'text/html' });
  response.end(`<html><head>${head(pages[request.url])}</head>
    <body>${links.map((link) => `<a href="${link}">a page</a>`).join('')}</body></html>`);
});

function report() {
  for (const [path, content] of Object.entries(pages)) {
    console.log(`${content}: links ${requested.has(`${path}/below`) ? '' : 'not '}followed`);
  }
  process.exit();
}

server.listen(0, '127.0.0.1', () => {
  new SiteChecker({}, { end: report }).enqueue(`http://127.0.0.1:${server.address().port}/`);
});
JS
node check.cjs | confirm
