"""Sphinx: how the pages of this folder are built. ``tox run -e docs`` builds them."""

from __future__ import annotations

from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.logging import getLogger

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "scrapy-robotspec"
author = "the contributors of scrapy-robotspec"
release = version_of("scrapy-robotspec")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"scrapy-robotspec {release}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_search_scorer = str(Path(__file__).with_name("static") / "scorer.js")

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Hop": "scrapy_robotspec.access.outcome.Hop"}

nitpicky = True
# Scrapy's names have no pages here, and what a reader is a kind of needs no link.
nitpick_ignore_regex = [
    ("py:class", r"(scrapy\..*|BaseSettings|Crawler|Request|DownloaderAwarePriorityQueue)"),
    # Types of attributes that are described on the usage page instead.
    ("py:class", r"(ForAll|UsageRules|UsageRefusal|Preference|Mapping\[str|tuple\[UsageStatement)"),
    ("py:class", r"collections\.abc\.Mapping"),
    ("py:class", "Severity"),  # its values are shown with the attribute
]

#: Words that users type into the search, and the section that answers them, as page#section. The
#: search ignores numbers in texts, and ranks a page that repeats a word above the one about it.
SEARCHES = {
    "bulk#verdicts-in-bulk": "common crawl",
    "changelog#changelog": "upgrade, release notes, what is new",
    "command-line#check": "test a url, check a url",
    "command-line#exit-codes": "exit code, exit status",
    "command-line#lint": "github action, gitlab ci, continuous integration, pre-commit",
    "command-line#which-command-for-which-question": "gptbot, validate robots.txt, robots.txt "
    "tester, robots.txt checker, robots.txt validator, json",
    "compatibility#compatibility": "supported versions, python version, scrapy version",
    "differences#adding-it-to-an-existing-project": "migrate",
    "differences#developing-offline-with-httpcache": "offline, test, httpcache",
    "differences#download-handlers-that-follow-redirects": "selenium, curl",
    "differences#the-robots-txt-request": "allowed_domains, retrymiddleware",
    "differences#what-changes-in-your-crawl": "alternatives, protego, reppy, compare",
    "editions#editions-where-the-specifications-disagree": "edition, google, rfc 9309, wildcard",
    "how-to#clear-the-cache": "clear the cache, empty cache, delete cache, refresh robots.txt",
    "how-to#crawl-hosts-that-are-often-down-503-timeouts": "503, timeout, robots.txt 503",
    "how-to#crawl-in-docker": "kubernetes, container",
    "how-to#disable-the-plugin": "disable robots.txt, bypass robots.txt",
    "how-to#ignore-robots-txt-for-one-host": "whitelist, allow list, override, subdomain, "
    "subdomains, one domain, ignore robots.txt",
    "how-to#keep-a-crawl-delay-or-a-rate-limit-of-your-own": "crawl delay, crawl-delay, rate "
    "limit, politeness, slow down",
    "how-to#list-every-refused-request-in-one-place": "blocked urls, skipped urls, refused urls, "
    "list of refused requests, which urls were blocked, request_refused",
    "how-to#run-on-scrapy-cloud-or-scrapyd": "scrapy cloud, scrapyd, shub, deploy",
    "how-to#test-a-spider-offline-with-a-mock-robots-txt": "mock robots.txt, unit test, test my "
    "spider offline",
    "how-to#when-in-doubt-do-not-fetch-403-429-html-pages": "403, 429, robots.txt 403, robots.txt "
    "429, 403 forbidden",
    "index#the-parser-alone": "parse robots.txt in python, robotparser, python parser",
    "lint#linter-find-mistakes-in-a-robots-txt-file": "lint, write robots.txt",
    "scaling#sqlite": "scrapyd, cron",
    "scaling#a-fleet-on-scrapy-redis": "scrapy-redis, fleet, distributed crawl",
    "scaling#a-store-of-your-own": "custom storage",
    "security#redirects-and-private-addresses": "ssrf, private network",
    "settings#robotspec-cache": "robots.txt cache",
    "settings#settings": "custom_settings",
    "settings#robotspec-fetch-timeout": "timeout, robots.txt timeout",
    "settings#robotspec-user-agent-token": "user agent, product token",
    "spiders#handle-a-refused-request": "errback, ignorerequest, forbiddenbyrobots, "
    "robotsunreachable",
    "spiders#meta-keys": "dont_obey_robotstxt, one url, one request",
    "spiders#stats": "monitoring, prometheus",
    "tutorial#tutorial-from-startproject-to-the-report-in-ten-minutes": "example, beginner",
    "usage#usage-preferences-may-we-train-ai-on-this": "ai, llm, tdm, content-signal",
    "usage#what-the-plugin-cannot-know": "noindex, nofollow, x-robots-tag, meta robots, license",
    "waiting#crawl-delay": "autothrottle, download_delay",
    "waiting#how-many-robots-txt-at-once": "concurrent requests",
    "waiting#progress-in-the-log": "scrapy shell",
    "waiting#what-waits-and-until-when": "retry, pause",
    "waiting#where-requests-wait": "media pipeline, filespipeline, images pipeline, priority, "
    "scheduler",
    "why#a-page-was-crawled-that-should-be-refused": "401, 404, 410, robots.txt not found, "
    "robots.txt 404",
    "why#pages-were-crawled": "0 pages, nothing crawled",
    "why#the-crawl-is-stuck-or-waits": "403, 407, 408, 425, 429, 500, 502, 503, 504, 5xx, stuck, "
    "proxy, hang, blocked, captcha, cloudflare, dns, ssl, tls, https, connection refused, "
    "robots.txt 500, robots.txt 503",
    "why#the-crawl-stops-at-start-with-a-configurationerror": "traceback",
    "why#the-log-of-the-crawl": "forbidden by robots.txt, warning, log",
    "why#too-many-open-files": "too many open files, ulimit",
}


def index_searches(app: Sphinx, doctree: nodes.document) -> None:
    """Make index entries of the words, which the search finds first."""
    page = app.env.current_document.docname
    sections = {section["ids"][0]: section for section in doctree.findall(nodes.section)}
    for target, words in SEARCHES.items():
        name, _, place = target.partition("#")
        if name == page and place not in sections:
            getLogger(__name__).warning("no section %s: %s", target, ", ".join(sections))
        elif name == page:
            entries = [("single", word, place, "main", None) for word in words.split(", ")]
            sections[place].insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> None:
    """Sphinx's entry."""
    app.connect("doctree-read", index_searches)
