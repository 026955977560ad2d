#!/usr/bin/env bash
# gatsby-plugin-robots-txt writes the rules for "development" into a production build.
#
# Version: gatsby-plugin-robots-txt 1.8.0 (npm); its step of the build is run without Gatsby.
# Source: its README: the key of "env" comes from GATSBY_ACTIVE_ENV, then NODE_ENV; if neither is
# there, it is "development".
# Expected: where "env" has no key "production", a production build has the options outside "env".
# Behaviour: an environment without a key of its own gets the options of "development". A site that
# closes its previews there, and nothing else in "env", is closed in production; and one that names
# "production" alone gets its general options in every other environment, as expected.
# Output:
#   NODE_ENV=production, env: development -> User-agent: * | Disallow: /
#   NODE_ENV=production, env: production -> User-agent: * | Allow: /
#   NODE_ENV=production, no env -> User-agent: * | Disallow: /cart/
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps gatsby-plugin-robots-txt@1.8.0
cd "$work"
mkdir public
NODE_ENV=production node - <<'JS' | confirm
const fs = require('fs');
const { onPostBuild } = require('gatsby-plugin-robots-txt/gatsby-node');

const site = { host: null, sitemap: null, policy: [{ userAgent: '*', disallow: '/cart/' }] };
const closed = { policy: [{ userAgent: '*', disallow: '/' }] };
const open = { policy: [{ userAgent: '*', allow: '/' }] };

(async () => {
  for (const [name, env] of [
    ['env: development', { development: closed }],
    ['env: production', { production: open }],
    ['no env', undefined],
  ]) {
    await onPostBuild({}, env ? { ...site, env } : site);
    const text = fs.readFileSync('public/robots.txt', 'utf8').trim().split('\n').join(' | ');
    console.log(`NODE_ENV=${process.env.NODE_ENV}, ${name} -> ${text}`);
  }
})();
JS
