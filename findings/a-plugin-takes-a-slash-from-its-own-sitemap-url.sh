#!/usr/bin/env bash
# vuepress-plugin-robots writes "Sitemap: https:/example.com/sitemap.xml", and Scrapy asks for example.com/example.com.
#
# Version: vuepress-plugin-robots 1.0.1 (npm), read by Scrapy 2.19.0 (PyPI).
# Source: its README: host is mandatory, as "https://your-website", and sitemap is by default sitemap.xml; RFC 9309,
# section 2.2.4, and the sitemap protocol: a Sitemap line has a full URL.
# Expected: https://example.com/sitemap.xml.
# Behaviour: to join host and path it replaces each double slash of the URL, the one behind "https:" as well. By
# RFC 3986, section 5.2.2, the rest is a path, which readers resolve as they like: strictly it is no
# web address, and loosely one below the site's own.
# What follows: no crawler finds the sitemap, whatever options are set; the Host line beside it is right.
# Output:
#   host https://example.com -> Sitemap: https:/example.com/sitemap.xml
#   host https://example.com, sitemap /map.xml -> Sitemap: https:/example.com/map.xml
#   Scrapy's SitemapSpider asks for https://example.com/example.com/map.xml
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps vuepress-plugin-robots@1.0.1
pypi scrapy==2.19.0
cd "$work"
cat >build.cjs <<'JS'
const plugin = require('vuepress-plugin-robots');
const { readFileSync, rmSync, existsSync } = require('node:fs');

const log = console.log;
console.log = () => {};

async function build(name, options) {
  rmSync('robots.txt', { force: true });
  await plugin(options, { isProd: true, outDir: '.' }).generated([]);
  while (!existsSync('robots.txt') || !readFileSync('robots.txt', 'utf8')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  log(`${name} -> ${readFileSync('robots.txt', 'utf8').match(/^Sitemap: .*$/m)[0]}`);
}

(async () => {
  await build('host https://example.com', { host: 'https://example.com' });
  await build('host https://example.com, sitemap /map.xml', { host: 'https://example.com', sitemap: '/map.xml' });
})();
JS
{
    node build.cjs
    "$python" - <<'PY'
from pathlib import Path

from scrapy.utils.sitemap import sitemap_urls_from_robots

robots = Path("robots.txt").read_bytes()
url = next(iter(sitemap_urls_from_robots(robots, base_url="https://example.com/robots.txt")))
print(f"Scrapy's SitemapSpider asks for {url}")
PY
} | confirm
