"""Sphinx: how the pages of this folder are built. ``tox run -e docs`` builds them."""

from __future__ import annotations

from importlib.metadata import version as version_of
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

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Hop": "scrapy_robotspec.access.outcome.Hop"}

nitpicky = True
# Scrapy's names have no pages here, and what a reader is a kind of needs no link.
nitpick_ignore_regex = [
    ("py:class", r"(scrapy\..*|BaseSettings|Crawler|Request|DownloaderAwarePriorityQueue)"),
    # Types of attributes that are described on the usage page instead.
    ("py:class", r"(UsageRules|UsageRefusal|Preference|Mapping\[str|tuple\[UsageStatement)"),
]

#: Words that users type into the search, and the section that answers them, as page#section. The
#: search ignores numbers in texts, and ranks a page that repeats a word above the one about it.
SEARCHES = {
    "bulk#verdicts-in-bulk": "common crawl",
    "command-line#which-command-for-which-question": "gptbot, validate robots.txt, json",
    "differences#adding-it-to-an-existing-project": "migrate",
    "differences#developing-offline-with-httpcache": "offline, test, httpcache",
    "differences#download-handlers-that-follow-redirects": "selenium, curl",
    "differences#the-robots-txt-request": "allowed_domains, retrymiddleware",
    "editions#editions-where-the-specifications-disagree": "edition, google, rfc 9309, wildcard",
    "how-to#crawl-hosts-that-are-often-down-503-timeouts": "503, timeout",
    "how-to#crawl-in-docker": "kubernetes, container",
    "how-to#ignore-robots-txt-for-one-host": "whitelist, allow list, override, subdomain",
    "how-to#keep-a-crawl-delay": "crawl delay, crawl-delay",
    "how-to#when-in-doubt-do-not-fetch-403-429-html-pages": "403, 429",
    "lint#linter-find-mistakes-in-a-robots-txt-file": "lint",
    "scaling#sqlite": "scrapyd, cron",
    "scaling#a-fleet-on-scrapy-redis": "scrapy-redis, fleet",
    "security#redirects-and-private-addresses": "ssrf",
    "settings#robotspec-fetch-timeout": "timeout",
    "settings#robotspec-user-agent-token": "user agent, product token",
    "spiders#ignore-robots-txt-for-one-request": "dont_obey_robotstxt, one url, one request",
    "stats#exceptions": "errback, ignorerequest",
    "tutorial#tutorial-from-startproject-to-the-report-in-ten-minutes": "example, beginner",
    "usage#usage-preferences-may-we-train-ai-on-this": "ai, llm",
    "usage#what-the-plugin-cannot-know": "noindex, x-robots-tag, meta robots, license",
    "waiting#crawl-delay": "autothrottle, download_delay",
    "waiting#how-many-robots-txt-at-once": "concurrent requests",
    "waiting#progress-in-the-log": "scrapy shell",
    "waiting#what-waits-and-until-when": "retry, pause",
    "waiting#where-requests-wait": "media pipeline, images, priority, scheduler",
    "why#a-page-was-crawled-that-should-be-refused": "401, 404, 410, robots.txt not found",
    "why#pages-were-crawled": "0 pages, nothing crawled",
    "why#the-crawl-is-stuck-or-waits": "403, 407, 408, 425, 429, 500, 502, 503, 504, 5xx, stuck, "
    "proxy, hang, blocked, captcha, cloudflare, dns, ssl, tls, https, connection refused",
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
