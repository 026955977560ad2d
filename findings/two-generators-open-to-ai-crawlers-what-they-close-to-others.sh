#!/usr/bin/env bash
# crawlableseo and dash-improve-my-llms disallow "/admin/" for all crawlers but those of OpenAI, Anthropic and others.
#
# Version: crawlableseo 0.3.1, dash-improve-my-llms 2.10.0; read by Protego 0.7.0 (PyPI).
# Source: a docstring of the second: disallowed_paths are "paths to disallow for all bots"; RFC 9309, section 2.2.1: a
# crawler obeys the group of its name, and the group for "*" only where there is none.
# Expected: the paths are closed to all crawlers.
# Behaviour: the Disallow lines are in the group for "*". Both write, without being asked, a group with "Allow: /" for
# each crawler of a list of AI search, and that is all that these crawlers obey.
# What follows: the owner reads "Disallow: /admin/" at the top of the file, tests it with Googlebot, and finds the pages
# in the answers of chat programs.
# Output:
#   crawlableseo: Googlebot False, GPTBot True, OAI-SearchBot True, PerplexityBot True, Claude-SearchBot True
#   dash-improve-my-llms: Googlebot False, GPTBot False, OAI-SearchBot True, PerplexityBot True, Claude-SearchBot True
source "$(dirname "$0")/common.sh"

pypi crawlableseo==0.3.1 dash-improve-my-llms==2.10.0 protego==0.7.0
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
from crawlableseo import robots_txt
from dash_improve_my_llms.robots_generator import RobotsConfig, generate_robots_txt
from protego import Protego

SITE = "https://example.com"
NAMES = ("Googlebot", "GPTBot", "OAI-SearchBot", "PerplexityBot", "Claude-SearchBot")
config = RobotsConfig(disallowed_paths=["/admin/"])
files = {
    "crawlableseo": robots_txt(SITE, disallow=["/admin/"]),
    "dash-improve-my-llms": generate_robots_txt(config, f"{SITE}/sitemap.xml", SITE),
}
for generator, text in files.items():
    rules = Protego.parse(text)
    verdicts = [f"{name} {rules.can_fetch(f'{SITE}/admin/users', name)}" for name in NAMES]
    print(f"{generator}: {', '.join(verdicts)}")
PY
