"""The built documentation: links lead somewhere, the search answers, whole lines are shown.

Needs Sphinx; the search and the lines need Chromium (on the PATH or in ``CHROMIUM``), too.
"""

from __future__ import annotations

import html
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest

import run

DOCS = Path(run.__file__).parent / "docs"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""

if not find_spec("furo"):
    pytest.skip("Sphinx and its theme are not installed", allow_module_level=True)

#: What readers type, by the page that has to be among the first three results.
QUESTIONS = {
    "browser": "playwright, scrapy-playwright",
    "bulk": "common crawl, dask, spark, parquet",
    "changelog": "upgrade, release notes",
    "command-line": "robots.txt tester, GitHub Action, exit code, robots.txt validator, test a "
    "url, validate robots.txt, pre-commit, check a url, command line",
    "compatibility": "splash, zyte api, rotating proxies, python version, scrapy version, http2",
    "differences": "alternatives, protego, offline, migrate, uninstall, selenium, httpcache, "
    "compare with scrapy",
    "editions": "google, rfc 9309, wildcards, longest match, googlebot",
    "evidence": "gdpr, legal, proof, warc, audit, replay, access log, timestamp",
    "how-to": "clear the cache, rate limit, Scrapy Cloud, scrapyd, test my spider offline, mock "
    "robots.txt, robots.txt 403, disable robots.txt, disable for one spider, docker, kubernetes, "
    "crawl delay, politeness, ignore robots.txt, 403 forbidden, dry run, blocked urls, which urls "
    "were blocked, list of refused requests, html report, unit test, subdomains",
    "index": "parse robots.txt in Python, install, pip install, runspider",
    "json": "json schema, json lines",
    "lint": "lint, misspelled, sarif, dollar sign, write robots.txt",
    "performance": "benchmark, performance",
    "scaling": "redis, sqlite, scrapy-redis, distributed crawl, several processes, postgres, "
    "memory, custom storage",
    "security": "ssrf, gzip bomb, localhost, private network",
    "settings": "user agent, product token, max size, overrides, report, custom_settings, "
    "ROBOTSTXT_OBEY = False, robots.txt cache",
    "spiders": "errback, IgnoreRequest, ForbiddenByRobots, signal, request_refused, stats, "
    "sitemap, sitemap spider, meta key, dont_obey_robotstxt, monitoring",
    "tutorial": "beginner, example",
    "usage": "nofollow, X-Robots-Tag, noindex, AI training, llm, content-usage, content-signal, "
    "rsl, license, aipref",
    "waiting": "autothrottle, pause, jobdir, scrapy shell, media pipeline, FilesPipeline, "
    "concurrent requests, SCHEDULER_PRIORITY_QUEUE, priority queue",
    "why": "stuck, hang, slow, proxy, dns, 0 pages, robots.txt 404, robots.txt 503, robots.txt "
    "500, ConfigurationError, forbidden by robots.txt, too many open files, 429 too many requests",
}
LAST = {"api", "architecture", "changelog", "conformance", "contributing", "specification"}

#: A page beside the others that asks Sphinx's script each question, and shows the results as text.
ASKING = """<!doctype html><html data-content_root="./"><meta charset="utf-8"><body>
<div id="search-progress"></div>{scripts}<script>
const ask = question => Search._performSearch(...Search._parseQuery(question)).reverse();
const found = {questions}.map(question => ask(question).map(([page, , place]) => page + place));
document.body.innerHTML = "";
document.body.append("RESULT" + JSON.stringify(found) + "END");
</script>"""
SCRIPTS = [
    *(f"_static/{name}.js" for name in ("documentation_options", "doctools", "sphinx_highlight")),
    *(f"_static/{name}.js" for name in ("searchtools", "language_data")),
    "searchindex.js",
]


def entries() -> list[tuple[str, str]]:
    """The words of the documentation's own index, each with its section."""
    searches = runpy.run_path(str(DOCS / "conf.py"))["SEARCHES"]
    return [(word, target) for target, words in searches.items() for word in words.split(", ")]


INDEXED = {section for _, section in entries()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built documentation."""
    folder = tmp_path_factory.mktemp("docs")
    build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(DOCS), str(folder)]
    subprocess.run(build, check=True)
    return folder


class Page(HTMLParser):
    """Links, names of places and the text outside code of a built page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names.update(filter(None, [found.get("id")]))
        if target := found.get({"a": "href", "img": "src"}.get(tag, "")):
            self.links.append(target)
        if tag in ("pre", "code", "script", "style", "title"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside[-1:] == [tag]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text += data


@pytest.fixture(scope="module")
def parsed(built: Path) -> dict[str, Page]:
    """The pages by name, without those that Sphinx makes for itself."""
    names = (path.name for path in DOCS.glob("*.md"))
    return {name: Page(built / name) for name in (f"{Path(one).stem}.html" for one in names)}


def test_no_link_is_left_as_text(parsed: dict[str, Page]) -> None:
    """Sphinx does not notice a link without its definition."""
    defined = re.findall(r"^\[([\w-]+)\]: ", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE)
    left = re.compile(r"\w*\]\[\w*|\[(?:" + "|".join(defined) + r")\]")
    found = {name: left.findall(page.text) for name, page in parsed.items()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_each_link_of_a_page_has_its_target(built: Path, parsed: dict[str, Page]) -> None:
    """A page, and the place on it."""
    lost = []
    for name, page in parsed.items():
        for link in page.links:
            target, place = urldefrag(urljoin(name, link))
            if ":" in target:
                continue  # another site
            known = parsed.get(target)
            has_place = not place or known is None or unquote(place) in known.names
            if not ((built / target).exists() and has_place):
                lost.append((name, link))
    assert lost == []


def test_a_package_index_finds_the_picture_of_the_readme(built: Path) -> None:
    """It shows the README without the files beside it."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    picture = re.search(r"^\[picture\]: https://[^/]+/en/latest/(\S+)$", readme, re.MULTILINE)
    assert picture
    assert (built / picture[1]).is_file()


def test_each_page_can_be_reached_from_the_first_one(parsed: dict[str, Page]) -> None:
    reached, waiting = {"index.html"}, ["index.html"]
    while waiting:
        name = waiting.pop()
        links = {urldefrag(urljoin(name, link))[0] for link in parsed[name].links}
        waiting += (new := sorted((links & parsed.keys()) - reached))
        reached.update(new)
    assert reached == parsed.keys()


def result_of(page: Path) -> Any:
    """The value that a script of a page, opened at 1,280 pixels, shows."""
    if not CHROMIUM:
        pytest.skip("Chromium is not installed")
    options = ["--headless", "--no-sandbox", "--window-size=1280,1000"]
    options += ["--virtual-time-budget=60000", "--dump-dom"]
    shown = subprocess.check_output(
        [CHROMIUM, *options, page.as_uri()], encoding="utf-8", timeout=120
    )
    found = re.search("RESULT(.*?)END", shown, re.DOTALL)
    assert found, shown[:2000]
    return json.loads(html.unescape(found[1]))


@pytest.fixture(scope="module")
def results(built: Path) -> dict[str, list[str]]:
    """The sections that the search finds, best first, by question."""
    questions = [word for words in QUESTIONS.values() for word in words.split(", ")]
    questions += [word for word, _ in entries()]
    scripts = "".join(f'<script src="{name}"></script>' for name in SCRIPTS)
    page = built / "asking.html"
    page.write_text(ASKING.format(scripts=scripts, questions=json.dumps(questions)))
    return dict(zip(questions, result_of(page), strict=True))


def test_questions_lead_to_the_page_that_answers_them(results: dict[str, list[str]]) -> None:
    """The page is one of the first three that are found."""
    wrong = {
        question: results[question][:5]
        for page, questions in QUESTIONS.items()
        for question in questions.split(", ")
        if page not in pages(results[question])[:3]
    }
    assert wrong == {}
    assert len(results) > 150


def test_words_of_the_index_lead_to_their_section(results: dict[str, list[str]]) -> None:
    wrong = {
        word: results[word][:5] for word, section in entries() if section not in results[word][:3]
    }
    assert wrong == {}


def test_pages_for_contributors_come_last(results: dict[str, list[str]]) -> None:
    """No page for users stands behind one of theirs, but for words of the index."""
    for question, sections in results.items():
        ranks = [
            section.partition("#")[0] in LAST for section in sections if section not in INDEXED
        ]
        assert ranks == sorted(ranks), question


def pages(sections: list[str]) -> list[str]:
    """The pages of some sections, each once."""
    return list(dict.fromkeys(section.partition("#")[0] for section in sections))


MEASURING = """<script>addEventListener("load", () => {
const code = [...document.querySelectorAll("pre")];
const cut = code.filter(each => each.scrollWidth > each.clientWidth);
document.body.innerHTML = "";
document.body.append("RESULT" + JSON.stringify(cut.map(each => each.textContent)) + "END");
});</script></body>"""


@pytest.mark.parametrize("page", ["settings", "evidence", "json"])
def test_no_line_of_code_is_cut_off(built: Path, page: str) -> None:
    """The pages with the longest lines; settings shows two at its top."""
    text = (built / f"{page}.html").read_text(encoding="utf-8")
    assert "<pre>" in text
    measured = built / "measured.html"
    measured.write_text(text.replace("</body>", MEASURING), encoding="utf-8")
    assert result_of(measured) == []
