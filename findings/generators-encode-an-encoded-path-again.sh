#!/usr/bin/env bash
# Generators of robots.txt encode a percent-encoded path once more, and the rule matches nothing.
#
# Version: generate-robotstxt 8.0.3, which the plugins for webpack, Gatsby, Gridsome and VuePress call,
# and astro-robots-txt 1.0.0 (npm).
# Source: RFC 9309, section 2.2.2: paths in rules are percent-encoded, and compared so; "%2F" and "/"
# are different.
# Expected: an encoded path is written as it is, and a raw one encoded or written as it is.
# Behaviour: both apply encodeURI, which encodes the percent sign as well: "/caf%C3%A9" becomes
# "/caf%25C3%25A9". Only a raw "é" is right, and no option can write "%2F" or "%3F".
# What follows: an owner who copies the path of a URL from the address bar closes nothing.
# Output:
#   generate-robotstxt: /café -> /caf%C3%A9 | /caf%C3%A9 -> /caf%25C3%25A9 | /a%2Fb -> /a%252Fb
#   astro-robots-txt: /café -> /caf%C3%A9 | /caf%C3%A9 -> /caf%25C3%25A9 | /a%2Fb -> /a%252Fb
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps generate-robotstxt@8.0.3 astro-robots-txt@1.0.0
cd "$work"
mkdir dist
cat >generate.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import astro from 'astro-robots-txt';
import generate from 'generate-robotstxt';

const paths = ['/café', '/caf%C3%A9', '/a%2Fb'];
const policy = [{ userAgent: '*', disallow: paths }];

function show(name, text) {
  const written = [...text.matchAll(/^Disallow: (.*)$/gm)].map((match) => match[1]);
  console.log(`${name}: ${paths.map((path, i) => `${path} -> ${written[i]}`).join(' | ')}`);
}

const make = generate.default ?? generate;
show('generate-robotstxt', await make({ policy }));

const log = console.log;
console.log = () => {};
const { hooks } = astro({ policy, sitemap: false });
const logger = { info() {}, warn() {}, error() {} };
hooks['astro:config:done']({ config: { site: 'https://example.com', base: '/' }, logger });
await hooks['astro:build:done']({ dir: pathToFileURL('dist/'), logger });
console.log = log;
show('astro-robots-txt', readFileSync('dist/robots.txt', 'utf8'));
JS
node generate.mjs | confirm
