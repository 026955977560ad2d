"""The differences between two versions of a file: complete, and nothing but what matters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.cli.differences import Change, find_changes, sample_paths
from scrapy_robotspec.cli.options import named_crawlers
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile


def changes(old: bytes, new: bytes, edition: str = "google-2019", *urls: str) -> list[Change]:
    files = [ParsedFile(RobotsTxt.parse(body, edition)) for body in (old, new)]
    return list(find_changes(files[0], files[1], named_crawlers(files), urls))


SHOP = b"User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\nAllow: /y/z\n"

SAME = {
    "comments and blanks": b"# shop\n\n" + SHOP.replace(b"Disallow: /x", b"Disallow: /x # why"),
    "order of groups": b"User-agent: *\nAllow: /y/z\nDisallow: /y\nUser-agent: a\nUser-agent: b\n"
    b"Disallow: /x\n",
    "spelling of fields and escapes": SHOP.replace(b"Disallow: /x", b"DISALLOW:/%78"),
    "a star at the end": SHOP.replace(b"Disallow: /x", b"Disallow: /x*"),
    "a rule twice": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nDisallow: /y\n"),
    "a group in two parts": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nUser-agent: *\n"),
    "a rule without a path": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nDisallow:\n"),
    "a crawler by its own name": SHOP + b"\nUser-agent: c\nDisallow: /y\nAllow: /y/z\n",
    "line ends": SHOP.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("new", SAME.values(), ids=SAME)
def test_nothing_is_reported_that_no_crawler_notices(new: bytes) -> None:
    """Spelling, order, comments and line numbers do not count."""
    assert changes(SHOP, new) == changes(new, SHOP) == []


def test_a_change_names_the_crawlers_that_it_concerns_and_the_rules() -> None:
    """Crawlers of one group share a change; the others have none."""
    (change,) = changes(SHOP, SHOP.replace(b"Disallow: /x", b"Disallow: /x/\nDisallow: /q"))
    assert change.crawlers == [("a",), ("b",)]
    assert [rule.text for rule in change.old.rules] == ["Disallow: /x"]
    assert [(rule.line, rule.text) for rule in change.new.rules] == [
        (3, "Disallow: /x/"),
        (4, "Disallow: /q"),
    ]


AGENT = st.sampled_from(["a", "b", "*"]).map("User-agent: {}".format)
PATTERN = st.one_of(
    st.text("/*$%x", max_size=4),
    st.sampled_from(["/%78", "/x/y", "/index.html", "/%2A", "/%24", "/*y$", "*/x"]),
)
RULE = st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), PATTERN)
FILE = st.lists(st.one_of(AGENT, RULE, RULE, st.sampled_from(["", "Noise"])), max_size=10).map(
    lambda lines: "\n".join(["User-agent: *", *lines]).encode()
)
PATH = st.text("/*$%x", max_size=4).map("/{}".format)


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=150)
@given(old=FILE, new=FILE, more=st.lists(PATH, max_size=4))
def test_no_verdict_differs_where_no_change_is_reported(
    edition: str, old: bytes, new: bytes, more: list[str]
) -> None:
    """A crawler without a reported change gets the same verdict for every path."""
    files = [ParsedFile(RobotsTxt.parse(body, edition)) for body in (old, new)]
    changed = {tokens for change in changes(old, new, edition) for tokens in change.crawlers}
    paths = [*sample_paths(group for file in files for group in file.groups), *more]
    for tokens in named_crawlers(files):
        if tokens not in changed:
            for path in paths:
                verdicts = {file.robots.allowed(path, tokens) for file in files}
                assert len(verdicts) == 1, (tokens, path)
