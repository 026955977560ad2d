#!/usr/bin/env bash
# hapi-robots writes "Disallow: /" where a site's list of restrictions for '*' is empty.
#
# Version: hapi-robots 3.2.2 with @hapi/hapi 21.4.0 (npm).
# Source: its README: a list of paths for each robot; 'chuck': [] means that chuck may fetch all.
# Expected: "Disallow:" for '*': [], as for any other robot; no group that the options do not name.
# Behaviour: the options are merged with the default, which closes the environment '*', item by item: an
# empty list becomes ['/']. So does a missing one: options for Googlebot alone close the site for all
# others. A list of one path replaces the default's, so the fault shows in no test with a path.
# Output:
#   {"*":[]} -> User-agent: * | Disallow: /
#   {"chuck":[]} -> User-agent: chuck | Disallow: | User-agent: * | Disallow: /
#   {"Googlebot":["/x"]} -> User-agent: Googlebot | Disallow: /x | User-agent: * | Disallow: /
#   {"*":["/private"]} -> User-agent: * | Disallow: /private
source "$(dirname "$0")/common.sh"

npm_packages hapi-robots@3.2.2 @hapi/hapi@21.4.0
cd "$work"
cat >ask.js <<'JS'
const Hapi = require("@hapi/hapi");

async function robots(rules) {
  const server = Hapi.server();
  const options = { envs: { "*": JSON.parse(rules) } };
  await server.register({ plugin: require("hapi-robots"), options });
  return (await server.inject("/robots.txt")).payload.trim().split("\n").map((line) => line.trim());
}

(async () => {
  for (const rules of ['{"*":[]}', '{"chuck":[]}', '{"Googlebot":["/x"]}', '{"*":["/private"]}'])
    console.log(`${rules} -> ${(await robots(rules)).join(" | ")}`);
})();
JS
node ask.js | confirm
