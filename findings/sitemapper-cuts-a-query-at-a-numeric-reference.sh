#!/usr/bin/env bash
# sitemapper reads "&#38;" in a sitemap as it is written, and the rest of the URL becomes a fragment.
#
# Version: sitemapper 4.1.6 (npm).
# Source: XML 1.0, section 4.1: "&#38;" and "&amp;" are the same character; the sitemap protocol: values are
# entity-escaped.
# Expected: https://example.com/list?page=1&lang=de in each spelling.
# Behaviour: the five named entities are replaced, numeric references are not. In a URL "#" begins the fragment,
# which no client sends.
# What follows: "Allow: /list?*lang=" is checked against, and the server asked for, the path "/list?page=1&".
# Output:
#   page=1&amp;lang=de -> /list?page=1&lang=de
#   <![CDATA[page=1&lang=de]]> -> /list?page=1&lang=de
#   page=1&#38;lang=de -> /list?page=1&, fragment #38;lang=de
#   page=1&#x26;lang=de -> /list?page=1&, fragment #x26;lang=de
source "$(dirname "$0")/common.sh"

npm_packages sitemapper@4.1.6
cd "$work"
cat >read.mjs <<'JS'
import http from 'node:http';
import Sitemapper from 'sitemapper';

const locations = [
  ['page=1&amp;lang=de', 'https://example.com/list?page=1&amp;lang=de'],
  ['<![CDATA[page=1&lang=de]]>', '<![CDATA[https://example.com/list?page=1&lang=de]]>'],
  ['page=1&#38;lang=de', 'https://example.com/list?page=1&#38;lang=de'],
  ['page=1&#x26;lang=de', 'https://example.com/list?page=1&#x26;lang=de'],
];
const server = http.createServer((request, response) => {
  const [, location] = locations[request.url.match(/\d/)[0]];
  response.setHeader('Content-Type', 'application/xml');
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${location}</loc></url></urlset>`,
  );
});
server.listen(0, '127.0.0.1', async () => {
  const root = `http://127.0.0.1:${server.address().port}`;
  for (const [number, [name]] of locations.entries()) {
    const { sites } = await new Sitemapper({ timeout: 5000 }).fetch(`${root}/sitemap${number}.xml`);
    const { pathname, search, hash } = new URL(sites[0]);
    console.log(`${name} -> ${pathname}${search}${hash && `, fragment ${hash}`}`);
  }
  process.exit();
});
JS
node read.mjs | confirm
