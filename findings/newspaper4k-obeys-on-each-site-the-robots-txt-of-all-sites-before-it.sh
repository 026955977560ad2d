#!/usr/bin/env bash
# newspaper4k fetches no page of any site once it has read the robots.txt of one that is closed.
#
# Version: newspaper4k 0.9.6 with Protego 0.7.0 (PyPI), honor_robots_txt set.
# Source: its documentation: the robots.txt at the root of the source is checked, and further requests respect it;
# RFC 9309, section 2.3: a robots.txt is that of its own scheme, host and port.
# Expected: each source is judged by its own file.
# Behaviour: the check is a hook of all requests of the process, and is never removed. Each further source adds one.
# What follows: the outcome depends on the order of the sites; an open site is refused in the name of another, whose
# address the message has. A program that runs for days refuses more and more.
# Output:
#   open, alone: home page read
#   shop, /private/ closed: home page read
#   open, /private/ behind shop: RobotsException in the name of shop
#   closed: RobotsException in the name of closed
#   open, behind closed: RobotsException in the name of closed
source "$(dirname "$0")/common.sh"

pypi newspaper4k==0.9.6 protego==0.7.0 tldextract==5.4.0
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
import tldextract

tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())  # no download of a list

from loopback import serving
from newspaper import Config, Source
from newspaper.exceptions import RobotsException


def site(rule):
    def answer(path):
        if path == "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, f"User-agent: *\nDisallow: {rule}\n".encode()
        return 200, {"Content-Type": "text/html"}, b"<html><body><p>Page</p></body></html>"

    return answer


config = Config()
config.honor_robots_txt = True
with serving(site("")) as opened, serving(site("/private/")) as shop, serving(site("/")) as closed:
    names = {opened.url: "open", shop.url: "shop", closed.url: "closed"}

    def read(case, url):
        source = Source(url, config=config)
        try:
            source.download()
            print(f"{case}: home page read" if "Page" in source.html else f"{case}: nothing")
        except RobotsException as error:
            name = next(name for address, name in names.items() if address in str(error))
            print(f"{case}: RobotsException in the name of {name}")

    read("open, alone", opened.url)
    read("shop, /private/ closed", shop.url)
    read("open, /private/ behind shop", f"{opened.url}/private/")
    read("closed", closed.url)
    read("open, behind closed", opened.url)
PY
