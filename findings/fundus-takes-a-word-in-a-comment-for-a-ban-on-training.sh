#!/usr/bin/env bash
# fundus reads whether a site forbids the training of models from words in comments, not from rules.
#
# Version: fundus 0.5.7 with curl_cffi 0.13.0 (PyPI).
# Source: its option skip_publishers_disallowing_training leaves out publishers that object to the training
# of models in their robots.txt; RFC 9309, section 2.2: comments carry no rules.
# Expected: Content-Usage, Content-Signal or a group that closes the site to AI crawlers counts; a
# comment does at most if it is such a sentence.
# Behaviour: a line counts that begins with "#" and contains one of twelve words, between blanks, in lower
# case: train, training, model, language, large, machine ... No field and no rule counts.
# What follows: a shop with "# large images" is left out, a publisher with "ai-train=no" is trained on.
# Output:
#   # language versions -> objects: True
#   # large images -> objects: True
#   # No AI training. -> objects: False
#   # Do not use for training of models -> objects: True
#   Content-Signal: ai-train=no -> objects: False
#   Content-Usage: train-ai=n -> objects: False
#   User-agent: GPTBot, Disallow: / -> objects: False
source "$(dirname "$0")/common.sh"

pypi fundus==0.5.7 curl_cffi==0.13.0
"$python" - <<'PY' | confirm
from fundus.publishers.base_objects import Robots
from loopback import serving

FILES = (
    ["# language versions"],
    ["# large images"],
    ["# No AI training."],
    ["# Do not use for training of models"],
    ["Content-Signal: ai-train=no"],
    ["Content-Usage: train-ai=n"],
    ["User-agent: GPTBot", "Disallow: /"],
)


def answer(path):
    lines = FILES[int(path.split("/")[1])]
    start = [] if lines[0].startswith("User-agent") else ["User-agent: *"]
    return 200, {"Content-Type": "text/plain"}, "\n".join([*start, *lines, ""]).encode()


with serving(answer) as server:
    for number, lines in enumerate(FILES):
        robots = Robots(f"{server.url}/{number}/robots.txt")
        print(f"{', '.join(lines)} -> objects: {robots.disallows_training()}", flush=True)
PY
