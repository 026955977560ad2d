#!/usr/bin/env bash
# newspaper4k reads no robots.txt whose first 1,000 characters are mostly comments in Russian, and fetches all pages.
#
# Version: newspaper4k 0.9.6 with Protego 0.7.0 (PyPI), honor_robots_txt set.
# Source: its documentation: the robots.txt at the root of the source is checked if it exists; allow_binary_content
# concerns files such as PDF. RFC 9309, section 2.2: robots.txt is UTF-8, and comments may hold any character.
# Expected: comments change nothing.
# Behaviour: each request is preceded by a look at the content for a binary file: one of which less than 60 % is
# printable ASCII. For a robots.txt that is an error of the fetch, which is logged, and the site has no rules.
# What follows: sites in Russian, Greek, Arabic or Japanese are crawled against their rules. A page is spared by the
# "<html" in it, so nothing else fails.
# Output:
#   comment in English, all closed: RobotsException
#   comment in Russian, all closed: home page read
#   comment in Japanese, all closed: home page read
source "$(dirname "$0")/common.sh"

pypi newspaper4k==0.9.6 protego==0.7.0 tldextract==5.4.0
cd "$work"
cat >read.py <<'PY'
import sys

import tldextract

tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())  # no download of a list

from loopback import serving
from newspaper import Config, Source
from newspaper.exceptions import RobotsException

case, comment = sys.argv[1:]


def answer(path):
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain; charset=utf-8"}, f"{comment}User-agent: *\nDisallow: /\n".encode()
    return 200, {"Content-Type": "text/html"}, b"<html><body><p>Page</p></body></html>"


config = Config()
config.honor_robots_txt = True
with serving(answer) as server:
    source = Source(server.url, config=config)
    try:
        source.download()
        print(f"{case}, all closed: home page read" if "Page" in source.html else f"{case}: nothing")
    except RobotsException:
        print(f"{case}, all closed: RobotsException")
PY
{
    "$python" read.py "comment in English" $'# Rules for the robots of search engines; please ask us before you come\n'
    "$python" read.py "comment in Russian" $'# Правила для поисковых роботов; пожалуйста, напишите нам заранее\n'
    "$python" read.py "comment in Japanese" $'# 検索エンジンのロボットに対する規則です。事前にご連絡いただければ幸いです。ありがとうございます\n'
} 2>"$work/errors" | confirm
