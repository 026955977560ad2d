"""The answers about one file: those of ``RobotsTxt``, for each crawler and path."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import RobotsTxt, bulk
from scrapy_robotspec.bulk import batches as bulk_files
from scrapy_robotspec.bulk.questions import Crawlers
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import robots_file
from scrapy_robotspec.protocol.agent_index import index_agents
from tests.unit.bulk.asking import NAMES, PATHS, SHOP, files, rows


def test_a_row_names_the_deciding_line_and_all_about_the_file() -> None:
    """Every column, for a crawler that its own group denies everything."""
    (row,) = rows(SHOP, status=200, source="shop.warc:0", paths=["/cart/help"])
    assert row == {
        "token": "GPTBot",
        "product_token": "GPTBot",
        "origin": "https://shop.example",
        "url": "https://shop.example/robots.txt",
        "source": "shop.warc:0",
        "status": 200,
        "outcome": "successful",
        "redirects": None,
        "error": None,
        "bytes": len(SHOP),
        "sha256": sha256(SHOP).hexdigest(),
        "truncated": False,
        "sitemaps": ["https://shop.example/sitemap.xml"],
        "edition": "google-2019",
        "lint_errors": None,
        "lint_warnings": None,
        "lint_advice": None,
        "group": ["GPTBot"],
        "class": "denies all",
        "allowed": False,
        "reason": "rule",
        "line": 5,
        "rule": "Disallow: /",
        "paths": [
            {
                "path": "/cart/help",
                "allowed": False,
                "reason": "rule",
                "line": 5,
                "rule": "Disallow: /",
            }
        ],
        "crawl_delay": 7.0,
        "usage": None,
    }


@pytest.mark.parametrize("name", EDITIONS)
@given(
    bodies=st.lists(files, max_size=4),
    names=st.one_of(st.just(NAMES), st.sampled_from(NAMES).map(lambda each: [each])),
)
def test_rows_equal_single_verdicts(name: str, bodies: list[bytes], names: list[str]) -> None:
    """Every row says what RobotsTxt says about the same file, crawler and path."""
    urls = ["https://h/robots.txt"] * len(bodies)
    found = bulk.verdicts(
        pa.RecordBatch.from_pydict({"url": urls, "body": pa.array(bodies, pa.binary())}),
        tokens=names,
        paths=PATHS,
        editions=name,
    ).to_pylist()
    asked = [each.asked for each in Crawlers(names, EDITIONS[name]).names]
    expected = [(body, tokens) for body in bodies for tokens in asked]
    assert len(found) == len(expected)
    for row, (body, tokens) in zip(found, expected, strict=True):
        robots = RobotsTxt.parse(body, name)
        for path, answer in [("/", row), *((each["path"], each) for each in row["paths"])]:
            verdict = robots.explain(f"https://h{path}", tokens)
            rule = verdict.rule
            assert (answer["allowed"], answer["reason"]) == (verdict.allowed, verdict.reason)
            assert answer["line"] == (rule.line if rule else None)
            assert answer["rule"] == (rule.text if rule else None)
        assert tuple(row["group"]) == robots.explain("https://h/", tokens).group
        assert row["crawl_delay"] == robots.crawl_delay(tokens)
        assert tuple(row["sitemaps"]) == robots.sitemaps
        usage = robots.usage("https://h/", tokens)
        assert row["usage"] == (sorted(usage.preferences.items()) if usage.applies else None)


#: Where other lines can be: before a group, between its agents, among its rules, in comments.
LINES = [
    *(f"User-agent: {name}" for name in ("a", "b", "foo", "*")),
    *(f"Crawl-delay: {seconds}" for seconds in (3, 5, "x")),
    "Content-Signal: search=yes",
    "Content-Usage: /a train-ai=n",
    "  content-usage : train-ai=y # content-usage: search=n",
    *("Disallow: /b", "Disallow:", "# user-agent: crawl-delay: 7", "Crawl-delay: user-agent", ""),
]


@pytest.mark.parametrize("name", EDITIONS)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=14), end=st.sampled_from(["\n", "\r\n", "\r"])
)
def test_other_lines_hold_for_the_same_crawlers(name: str, lines: list[str], end: str) -> None:
    """Delays and usage preferences are found without reading the groups one by one."""
    body = end.join(lines).encode()
    robots = RobotsTxt.parse(body, name)
    for row in rows(body, ["a", "b", "foo-bar", "qux"], editions=name):
        usage = robots.usage("https://h/", row["token"])
        assert row["crawl_delay"] == robots.crawl_delay(row["token"])
        assert row["usage"] == (sorted(usage.preferences.items()) if usage.applies else None)


def test_robots_txt_itself_is_allowed_whatever_the_response() -> None:
    """PRE-04."""
    for status in (200, 503):
        (row,) = rows(SHOP, paths=["/robots.txt"], status=status)
        assert row["paths"][0]["allowed"] is True


@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><title>Not found</title>",
        b'{"error": 404}',
        b"\x1f\x8b\x08\0\0\0\0\0\0\3" + bytes(range(256)),
        "User-agent: *\nDisallow: /".encode("utf-16"),
        b"nothing here",
    ],
)
def test_another_kind_of_file_is_unreadable_and_allows_everything(body: bytes) -> None:
    """As the specifications have it, and still not an answer of the site."""
    (row,) = rows(body)
    assert (row["class"], row["allowed"], row["reason"]) == ("unreadable", True, "no_group")


def test_findings_are_counted_on_request() -> None:
    """They are those of the linter."""
    body = b"User-agent: *\nDisalow: /x\nDisallow: fish\nDisallow:/y\n<p>\n"
    (row,) = rows(body, lint=True)
    findings = [finding.severity for finding in RobotsTxt.parse(body).lint()]
    assert row["lint_errors"] == findings.count("error") > 0
    assert row["lint_warnings"] == findings.count("warning")
    assert row["lint_advice"] == findings.count("advice") > 0


def test_an_index_page_opens_the_root() -> None:
    """PRE-05: in editions that have it."""
    (row,) = rows(b"User-agent: *\nDisallow: /\nAllow: /index.html\n", editions="google")
    assert (row["allowed"], row["line"], row["class"]) == (True, 3, "some")


def test_text_of_a_deciding_line_has_a_limit() -> None:
    """Each row and path repeats it: a comment of 400 KB would fill the memory."""
    line = "Disallow: / # " + "long " * 80_000
    (row,) = rows(f"User-agent: *\n{line}".encode(), paths=["/a"])
    assert row["rule"] == row["paths"][0]["rule"] == line[: bulk_files.MAX_TEXT]


DOTS = ["/x/../cart/1", "/x/%2e%2E/cart/1", "/./cart/", "/cart/../x", "/x/../robots.txt"]


@pytest.mark.parametrize("name", EDITIONS)
def test_paths_with_dots_are_judged_as_servers_read_them_too(name: str) -> None:
    """PAT-15: as single verdicts of pages."""
    body = SHOP + b"Disallow: /robots.txt\n"
    (row,) = rows(body, "otherbot", paths=DOTS, editions=name)
    robots = RobotsTxt.parse(body, name)
    for answer in row["paths"]:
        verdict = robots.explain_served(f"https://h{answer['path']}", "otherbot")
        line = verdict.rule.line if verdict.rule else None
        assert (answer["allowed"], answer["line"]) == (verdict.allowed, line)
    assert [each["allowed"] for each in row["paths"]].count(False) >= 4


def test_a_path_is_judged_as_a_crawl_sends_it() -> None:
    """PAT-13: without the question mark of an empty query, and shown as given."""
    (row,) = rows(b"User-agent: *\nDisallow: /*?\n", paths=["/page?", "/page?a"])
    assert [(one["path"], one["allowed"]) for one in row["paths"]] == [
        ("/page?", True),
        ("/page?a", False),
    ]


@pytest.mark.parametrize("tokens", [["GPTBot"], ["Other"], ["GPTBot", "Googlebot", "Other"]])
def test_a_file_is_indexed_once(monkeypatch: pytest.MonkeyPatch, tokens: list[str]) -> None:
    """SAF-02: all answers about it come from one index, also its delays and statements."""
    indexed: list[int] = []

    def counted(body: bytes, *arguments: Any) -> Any:
        indexed.append(len(body))
        return index_agents(body, *arguments)

    monkeypatch.setattr(robots_file, "index_agents", counted)
    body = SHOP + b"\nUser-agent: *\nCrawl-delay: 5\nContent-Usage: train-ai=n\nDisallow: /x\n"
    assert len(rows(body, status=200, tokens=tokens)) == len(tokens)
    assert indexed == [len(body)]
