#!/usr/bin/env bash
# Nuxt's module robots serves "Disallow: /" for all crawlers where a robots.txt closes the site to others than Googlebot.
#
# Version: @nuxtjs/robots 6.2.3 (npm); its reader and its handlers are run without Nuxt, and a site that Nuxt 4.4.5 has
# built gives the same answers.
# Source: its documentation: an existing robots.txt of the project is read and merged; RFC 9309, section 2.2.1: a crawler
# obeys the group that names it, and section 2.2.2: the longest rule counts.
# Expected: the groups of the file, each with its rules, and no header against the index on pages that they open.
# Behaviour: a group for "*" with "Disallow: /" marks the site as one that is not to be indexed. All other groups and
# all Allow lines are dropped, and each page says "noindex, nofollow" to each crawler. The build has a warning.
# What follows: the common "only these crawlers" and "only this folder" take a site out of the search engine that it is
# written for.
# Output:
#   Googlebot but /private/, others nothing: served User-agent: * | Disallow: /
#     /page for Googlebot: X-Robots-Tag noindex, nofollow
#   all crawlers, /public/ alone: served User-agent: * | Disallow: /
#     /public/page for Googlebot: X-Robots-Tag noindex, nofollow
#   two groups without "Disallow: /": served User-agent: Googlebot | Disallow: /private/ | User-agent: * | Disallow: /shop/
#     /page for Googlebot: X-Robots-Tag index, follow
source "$(dirname "$0")/common.sh"

npm_packages --legacy-peer-deps @nuxtjs/robots@6.2.3
cd "$work"
cat >nuxt.mjs <<'JS'
// What a built site gives the handlers: the configuration, the request's header and the answer's.
export const app = { _robots: {}, hooks: { callHook: async () => {} } };
export const config = {};
export const defineEventHandler = (handler) => handler;
export const setHeader = (event, name, value) => (event.answer[name] = value);
export const getRequestHeader = (event) => event.agent;
export const getQuery = () => ({});
export const useNitroApp = () => app;
export const useRuntimeConfig = () => ({ 'nuxt-robots': config, public: {} });
export const createNitroRouteRuleMatcher = () => () => ({});
export const fetchWithEvent = undefined;
export const getSiteConfig = () => ({});
export const getSiteIndexable = () => true;
export const withSiteUrl = (event, url) => url;
JS
cat >hooks.mjs <<'JS'
const provided = new URL('nuxt.mjs', import.meta.url).href;
export const resolve = (name, context, next) =>
  name.startsWith('#') || name === 'nuxtseo-shared/server' ? { url: provided, shortCircuit: true } : next(name, context);
JS
cat >serve.mjs <<'JS'
import { register } from 'node:module';
import { parseRobotsTxt, validateRobots, normalizeGroup } from '@nuxtjs/robots/util';

register('./hooks.mjs', import.meta.url);
const { app, config } = await import('./nuxt.mjs');
const server = './node_modules/@nuxtjs/robots/dist/runtime/server';
const { default: file } = await import(`${server}/routes/robots-txt.js`);
const { default: page } = await import(`${server}/middleware/injectContext.js`);
const { resolveRobotsTxtContext } = await import(`${server}/util.js`);

const cases = [
  ['Googlebot but /private/, others nothing', '/page', 'Googlebot', '/private/', '*', '/'],
  ['all crawlers, /public/ alone', '/public/page', '*', '/\nAllow: /public/'],
  ['two groups without "Disallow: /"', '/page', 'Googlebot', '/private/', '*', '/shop/'],
];
for (const [name, path, ...groups] of cases) {
  let text = '';
  for (let at = 0; at < groups.length; at += 2) text += `User-agent: ${groups[at]}\nDisallow: ${groups[at + 1]}\n\n`;
  const read = validateRobots(parseRobotsTxt(text));
  Object.assign(config, { groups: read.groups.map(normalizeGroup), sitemap: [], header: true });
  Object.assign(config, { robotsEnabledValue: 'index, follow', robotsDisabledValue: 'noindex, nofollow' });
  await resolveRobotsTxtContext(undefined, app);
  const served = await file({ path: '/robots.txt', answer: {} });
  console.log(`${name}: served ${served.split('\n').filter(Boolean).join(' | ')}`);
  const event = { path, agent: 'Mozilla/5.0 (compatible; Googlebot/2.1)', answer: {}, context: {} };
  await page(event);
  console.log(`  ${path} for Googlebot: X-Robots-Tag ${event.answer['X-Robots-Tag']}`);
}
JS
node serve.mjs | confirm
