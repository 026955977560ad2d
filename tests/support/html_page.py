"""Parses an HTML page; checks the rules for every page."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "link"}
TAGS = """
    html head meta link title style body a header h1 h2 h3 p nav ul ol li main section
    dl dt dd code span div b i table caption thead tbody tfoot tr th td details summary footer
""".split()  # noqa: SIM905  (50 quoted strings are harder to read)
ATTRIBUTES = """
    lang charset name content http-equiv rel href class id aria-labelledby aria-label role dir
    scope data-column aria-hidden style title
""".split()  # noqa: SIM905


class Page(HTMLParser):
    """A page taken apart; whatever should not be there fails at once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.labels: list[str] = []
        self.text = ""
        self.classes: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "a tag was left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= set(ATTRIBUTES), attrs
        if tag not in VOID:
            self._open.append(tag)
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids[values["id"]] += 1
            self.classes[values["id"]] = values.get("class", "")
        if "href" in values:
            self.links.append(values["href"])
        if "aria-labelledby" in values:
            self.labels += values["aria-labelledby"].split()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.text += data


def check(text: str) -> Page:
    """The page, after everything that must hold for any page."""
    page = Page(text)
    assert all(number == 1 for number in page.ids.values()), "an id twice"
    for link in page.links:
        is_robots_txt = re.fullmatch(r"(https?|ftp)://[^/]+/robots\.txt", link)
        is_inside = link == "data:," or link.removeprefix("#") in page.ids
        assert is_inside or is_robots_txt, f"a dead or foreign link: {link}"
    assert set(page.labels) <= set(page.ids)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text
    return page
