"""The table of the example project: what it says of pages that were crawled and refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import run

SOURCE = Path(run.__file__).parent / "example_project" / "example" / "table.py"


def load() -> Any:
    """The module of the example project, which is no part of any package here."""
    spec = importlib.util.spec_from_file_location("example_table", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def item(path: str, **values: Any) -> dict[str, Any]:
    """An item of an origin with rules; values in addition."""
    return {
        "case": "plain",
        "place": 0,
        "origin": "http://127.0.0.1:1",
        "path": path,
        "crawled": True,
        "reason": "no_rule",
        "status": 200,
        "hops": 0,
        "line": None,
        "rule": None,
        "note": "",
        "seconds": 0.25,
        **values,
    }


def test_a_refused_page_stands_below_its_origin_with_the_line() -> None:
    """Pages are counted per origin; each refused one is listed with its rule (EXT-02)."""
    refused = item("/x/", crawled=False, reason="rule", line=3, rule="Disallow: /x/")
    text = load().table([item("/"), refused])
    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "site origin robots.txt answered so crawled refused first after",
        "plain http://127.0.0.1:1 200 its rules decide 1 1 0.2 s",
        "- /x/ refused by line 3: Disallow: /x/",
    ]


def test_an_origin_without_an_answer_says_so() -> None:
    """Nothing was answered, nothing may be crawled (FET-14)."""
    text = load().table([item("/", crawled=False, reason="unreachable", status=None)])
    assert [" ".join(line.split()) for line in text.splitlines()[1:]] == [
        "plain http://127.0.0.1:1 nothing nothing may be crawled 0 1 0.2 s",
        "- / refused, unreachable",
    ]


def test_the_same_origin_under_two_names_makes_two_lines() -> None:
    """A note parts the pages of one origin (UAG-07)."""
    text = load().table([item("/", note="as a"), item("/", note="as b")])
    assert [line.split("  ")[0] for line in text.splitlines()[1:]] == ["plain, as a", "plain, as b"]
