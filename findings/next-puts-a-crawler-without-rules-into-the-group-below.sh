#!/usr/bin/env bash
# Next.js writes no line for "disallow: ''", and the crawler that may read all gets the rules of the next group.
#
# Version: next 16.4.6 (npm); its step of the build is run alone, and "next build" writes the same. The file is read
# by Protego 0.7.0 (PyPI).
# Source: its documentation of robots.ts: rules may be an array, one object for each crawler, and disallow a string
# or an array; RFC 9309, section 2.2.1: user-agent lines that follow each other share the rules below them, and
# a blank line ends no group.
# Expected: "Disallow:" without a value, which allows everything, or a group of its own in another way.
# Behaviour: an empty string or array leaves the User-Agent line alone. The group below it, often the one for
# "*", is then this crawler's.
# What follows: a site open to Googlebot alone is closed to it as well. In the other order it stays open, and with
# allow: '/' too.
# Output:
#   Googlebot disallow: '', * disallow: '/' -> User-Agent: Googlebot | User-Agent: * | Disallow: / | allowed: False
#   Googlebot disallow: [], * disallow: '/' -> User-Agent: Googlebot | User-Agent: * | Disallow: / | allowed: False
#   Googlebot allow: '/', * disallow: '/' -> User-Agent: Googlebot | Allow: / | User-Agent: * | Disallow: / | allowed: True
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps --omit=optional next@16.4.6
pypi protego==0.7.0
cd "$work"
cat >write.cjs <<'JS'
const { resolveRobots } = require('next/dist/build/webpack/loaders/metadata/resolve-route-data.js');

const closed = { userAgent: '*', disallow: '/' };
const rules = { "disallow: ''": { disallow: '' }, 'disallow: []': { disallow: [] }, "allow: '/'": { allow: '/' } };
for (const [name, rule] of Object.entries(rules)) {
  const text = resolveRobots({ rules: [{ userAgent: 'Googlebot', ...rule }, closed] });
  console.log(JSON.stringify([`Googlebot ${name}, * disallow: '/'`, text]));
}
JS
node write.cjs >files
"$python" - <<'PY' | confirm
import json

from protego import Protego

for line in open("files"):
    name, text = json.loads(line)
    allowed = Protego.parse(text).can_fetch("https://example.com/", "Googlebot")
    print(f"{name} -> {' | '.join(filter(None, text.splitlines()))} | allowed: {allowed}")
PY
