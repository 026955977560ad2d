#!/usr/bin/env bash
# counter-robots takes ImagesiftBot and YisouSpider for readers, and a telephone by Cubot for a robot.
#
# Version: counter-robots 2025.11 (PyPI), of the makers of Invenio, with its copy of COUNTER's list.
# Source: its README: robots by the official list of COUNTER, so that usage statistics can be compared; the list begins
# with the general patterns "bot", "spider" and "crawl". RFC 9309, section 2.2.1: names count in any case.
# Expected: each name that ends in "bot" or "spider" is a robot's.
# Behaviour: the patterns are compared with their case. GPTBot is known by the "gptbot" of the URL behind its name, and
# without that URL it is a reader; most crawlers have such a URL, and some have none.
# What follows: the statistics of a repository count such crawlers as people. Whether a crawler is one depends on the
# address of its page.
# Output:
#   Mozilla/5.0 (compatible; ImagesiftBot; +imagesift.com): robot False
#   Mozilla/5.0 (Windows NT 10.0) Chrome/69.0.3497.81 YisouSpider/5.0 Safari/537.36: robot False
#   Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot): robot True
#   Mozilla/5.0 (compatible; GPTBot/1.2): robot False
#   Mozilla/5.0 (compatible; gptbot/1.2): robot True
#   Mozilla/5.0 (Linux; Android 10; Cubot X30) Chrome/120.0 Mobile Safari/537.36: robot True
source "$(dirname "$0")/common.sh"

pypi counter-robots==2025.11
"$python" - <<'PY' | confirm
from counter_robots import is_robot_or_machine

for user_agent in (
    "Mozilla/5.0 (compatible; ImagesiftBot; +imagesift.com)",
    "Mozilla/5.0 (Windows NT 10.0) Chrome/69.0.3497.81 YisouSpider/5.0 Safari/537.36",
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; GPTBot/1.2)",
    "Mozilla/5.0 (compatible; gptbot/1.2)",
    "Mozilla/5.0 (Linux; Android 10; Cubot X30) Chrome/120.0 Mobile Safari/537.36",
):
    print(f"{user_agent}: robot {is_robot_or_machine(user_agent)}")
PY
