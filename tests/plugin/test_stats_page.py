"""docs/stats.md names every stat that the plugin counts, every key it sets, and none besides."""

from __future__ import annotations

import re
from pathlib import Path

import scrapy_robotspec
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.plugin.middleware import _summary

PAGE = (Path(__file__).parents[2] / "docs" / "stats.md").read_text("utf-8")
CODE = [
    path.read_text("utf-8")
    for path in (Path(scrapy_robotspec.__file__).parent / "plugin").rglob("*.py")
]
STAT = re.compile(r"""["'](robots(?:pec|txt)/[^"'\s]+)["']""")


def counted() -> set[str]:
    """The stats named in the code; what is filled in stands as ``X``."""
    return {re.sub(r"\{[^}]*\}", "X", name) for text in CODE for name in STAT.findall(text)}


def documented() -> dict[str, re.Pattern[str]]:
    """The stats in the page's table, with patterns for those that end in capitals."""
    names = re.findall(r"^\| `(robots[a-z]+/[^`]+)` \|", PAGE, re.MULTILINE)
    return {name: re.compile(re.sub(r"[A-Z]+$", ".+", name)) for name in names}


def test_every_stat_that_is_counted_is_documented() -> None:
    patterns = documented().values()
    missing = [name for name in counted() if not any(p.fullmatch(name) for p in patterns)]
    assert missing == []


def test_every_stat_that_is_documented_is_counted() -> None:
    names = counted()
    idle = [
        name for name, pattern in documented().items() if not any(map(pattern.fullmatch, names))
    ]
    assert idle == []


def test_the_keys_of_the_meta_dict_are_documented() -> None:
    table = PAGE.partition("It is a dict of plain values:")[2].partition("Keys that begin")[0]
    first_cells = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    keys = [key for cell in first_cells for key in re.findall(r"`(\w+)`", cell)]
    assert keys == list(_summary(Decision(True, "no_rule")))
