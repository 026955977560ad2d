"""One verb, one act: a reader who meets a method's name knows what it does."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import scrapy_robotspec

PACKAGE = Path(scrapy_robotspec.__file__).parent
FOLDERS = ("access", "lookup", "plugin", "store")
#: Names of methods that several classes have, each for one act.
ONE_ACT = {
    # keep and give back: stores, tables, queues
    *("get", "put", "pop", "push", "peek", "remove", "discard", "share", "claim", "release"),
    *("reserve", "node_of", "close"),
    # begin and end: parts of a crawl, fetches, spiders
    *("open", "stop", "end", "start", "run"),
    # what Scrapy calls
    *("from_crawler", "process_request", "process_response", "download_request"),
    # answer a question about a URL, a request, an origin
    *("decide", "crawl_delay", "is_spaced", "best"),
    # get something from a site, and what that takes
    *("fetch", "download", "clock", "agent", "policy_of", "download_delay"),
    # follow what happens
    *("on_fetch_done", "on_rules", "on_answered", "page_answered"),
    # count it
    *("refused", "fetched", "wait_began", "wait_ended", "waits_on", "requests", "requests_of"),
    *("kept", "count_usage", "overridden", "delay_not_kept", "spaced"),
}


def classes_by_method() -> dict[str, list[str]]:
    """The classes of each public method."""
    found = defaultdict[str, list[str]](list)
    for path in (each for folder in FOLDERS for each in (PACKAGE / folder).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        for node in (each for each in nodes if isinstance(each, ast.ClassDef)):
            for each in node.body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and is_public(each):
                    found[each.name].append(node.name)
    return found


def is_public(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a method that others call; properties are nouns."""
    is_property = any("property" in ast.unparse(each) for each in function.decorator_list)
    return function.name[0] != "_" and not is_property


def test_a_name_that_several_classes_have_stands_for_one_act() -> None:
    """A new pair is two words for two acts, or one more name of the table."""
    shared = {name: found for name, found in classes_by_method().items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in ONE_ACT} == {}
    assert ONE_ACT - set(shared) == set()
