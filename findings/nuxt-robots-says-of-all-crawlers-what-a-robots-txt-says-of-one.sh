#!/usr/bin/env bash
# Nuxt's module robots turns a Content-Usage for GPTBot into one for all crawlers, and drops each Crawl-delay.
#
# Version: @nuxtjs/robots 6.2.3 (npm), the reader and the writer of a build, run without Nuxt; a site that Nuxt 4.4.5 has
# built serves the same.
# Source: its documentation: an existing robots.txt is merged, and Content-Usage and Content-Signal are supported; the
# IETF's drafts of Content-Usage: a line of a group, as a rule is.
# Expected: the file that is served says what the file of the project says.
# Behaviour: Allow and Disallow alone end the names of a group, as in a parser that knows no preferences. A group that
# states preferences and has no rule is joined with the next one, in both directions; the last one of a file is dropped.
# The build calls Crawl-delay an unknown directive, and says nothing of the groups that it joins.
# What follows: "no training" for one crawler becomes "no training" for each, and a folder that is closed to one is
# closed to its neighbour.
# Output:
#   | User-agent: GPTBot
#   | User-agent: *
#   | Disallow: /admin/
#   | Content-Usage: train-ai=n
#   build: L4: Unknown directive crawl-delay
#   build: Group "ClaudeBot" has no allow or disallow rules. You must provide one of either.
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps @nuxtjs/robots@6.2.3
cd "$work"
cat >robots.txt <<'TXT'
User-agent: GPTBot
Content-Usage: train-ai=n

User-agent: *
Crawl-delay: 5
Disallow: /admin/

User-agent: ClaudeBot
Content-Signal: ai-train=no
TXT
cat >build.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { generateRobotsTxt, normalizeGroup, parseRobotsTxt, validateRobots } from '@nuxtjs/robots/util';

const { groups, sitemaps, errors } = validateRobots(parseRobotsTxt(readFileSync('robots.txt', 'utf8')));
const text = generateRobotsTxt({ groups: groups.map(normalizeGroup), sitemaps });
for (const line of text.split('\n').filter(Boolean)) console.log(`| ${line}`);
for (const error of errors) console.log(`build: ${error.trim()}`);
JS
node build.mjs | confirm
