#!/usr/bin/env bash
# vite-plugin-sitemap replaces a robots.txt that closes parts of the site by one that opens all of it.
#
# Version: vite-plugin-sitemap 0.8.2 with vite 7.1.12 (npm).
# Source: Vite copies the files of public/ to dist/ as they are; the README of the plugin says that a
# build writes sitemap.xml and robots.txt, and says nothing of a robots.txt that is there.
# Expected: a robots.txt in public/ is kept, at most with a Sitemap line added.
# Behaviour: it is written over with "Allow: /" for everybody, without a warning. The option
# generateRobotsTxt: false keeps it.
# Output:
#   public/robots.txt: User-agent: * | Disallow: /private/ | User-agent: GPTBot | Disallow: /
#   dist/robots.txt: User-agent: * | Allow: / | Sitemap: https://example.com/sitemap.xml
#   dist/robots.txt, generateRobotsTxt false: User-agent: * | Disallow: /private/ | User-agent: GPTBot | Disallow: /
source "$(dirname "$0")/common.sh"

npm_packages vite@7.1.12 vite-plugin-sitemap@0.8.2
cd "$work"
mkdir public
printf 'User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n' >public/robots.txt
echo '<!doctype html><title>A page</title>' >index.html

build() {
    cat >vite.config.mjs <<JS
import plugin from 'vite-plugin-sitemap';
export default { plugins: [(plugin.default ?? plugin)({ hostname: "https://example.com", ${1-} })] };
JS
    node_modules/.bin/vite build --logLevel error >build.log 2>&1 || { cat build.log; exit 1; }
}

lines() { grep . "$1" | paste -sd'|' | sed 's/|/ | /g'; }

{
    echo "public/robots.txt: $(lines public/robots.txt)"
    build
    echo "dist/robots.txt: $(lines dist/robots.txt)"
    build "generateRobotsTxt: false"
    echo "dist/robots.txt, generateRobotsTxt false: $(lines dist/robots.txt)"
} | confirm
