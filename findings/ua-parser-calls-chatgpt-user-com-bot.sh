#!/usr/bin/env bash
# ua-parser calls ChatGPT-User "com/bot", and Meta's crawler for training "crawler": words of the URL behind the name.
#
# Version: ua-parser 1.0.2 with ua-parser-builtins 202610 (PyPI), the rules that its other languages share.
# Source: RFC 9110, section 10.1.5: a comment in parentheses, or a word behind the products, is no product; each
# User-Agent as the operator's page states it.
# Expected: ChatGPT-User, meta-externalagent and TinEye, or "Other".
# Behaviour: a general rule takes any letters that end in "bot", "crawler", "spider" or "robot" for a name, a slash
# among them, wherever they stand; it wins where no rule is for that crawler.
# What follows: a table by crawler has one row for all whose page is at "….com/bot", OpenAI's among twenty others,
# and one for all at "…/crawler". A rule of a firewall or a robots.txt for that name reaches none.
# Output:
#   GPTBot: GPTBot 1.2
#   ChatGPT-User: com/bot None
#   Audisto Crawler: com/bot None
#   meta-externalagent: crawler None
#   TinEye: crawler None
#   FediDB: crawler None
source "$(dirname "$0")/common.sh"

pypi ua-parser==1.0.2 ua-parser-builtins==202610
"$python" - <<'PY' | confirm
from ua_parser import parse_user_agent

WEBKIT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko"
AGENTS = {
    "GPTBot": f"{WEBKIT}; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "ChatGPT-User": f"{WEBKIT}); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
    "Audisto Crawler": "Audisto Crawler (desktop; +https://audisto.com/bot)",
    "meta-externalagent": "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "TinEye": "TinEye/1.1 (http://tineye.com/crawler.html)",
    "FediDB": "FediDB/0.5.0; +https://fedidb.org/crawler.html",
}
for name, agent in AGENTS.items():
    read = parse_user_agent(agent)
    version = ".".join(filter(None, (read.major, read.minor))) if read and read.major else None
    print(f"{name}: {read and read.family} {version}")
PY
