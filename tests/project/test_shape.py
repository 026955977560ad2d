"""The shape that keeps the plugin readable: whom an object calls can be looked up."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import scrapy_robotspec
from tests.support.server import Server

PACKAGE = Path(scrapy_robotspec.__file__).parent
#: Clocks, timers and threads, which tests replace.
REPLACED = {"call_later", "clock", "in_thread", "monotonic"}
#: Max functions that constructors of the package take besides.
MAX_CALLBACKS = 8

#: A crawl whose objects keep methods of other objects under the names that it prints.
CRAWL = textwrap.dedent(
    """
    import gc, json, sys, types
    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy_robotspec import RobotSpecMiddleware

    def is_ours(thing):
        return type(thing).__module__.startswith("scrapy_robotspec")

    def names(thing):
        slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
        return [*getattr(thing, "__dict__", ()), *slots]

    class Example(Spider):
        name = "example"
        start_urls = sys.argv[1:]
        objects, kept = 0, set()

        def parse(self, response):
            waiting, seen = [self.crawler.get_downloader_middleware(RobotSpecMiddleware)], set()
            while waiting:
                thing = waiting.pop()
                if id(thing) in seen or not (is_ours(thing) or type(thing) in (dict, list, tuple)):
                    continue
                seen.add(id(thing))
                waiting += gc.get_referents(thing)
                for name in names(thing) if is_ours(thing) else ():
                    value = getattr(thing, name, None)
                    if isinstance(value, types.MethodType) and is_ours(value.__self__):
                        Example.kept.add(f"{type(thing).__name__}.{name}")
            Example.objects = len(seen)

    process = CrawlerProcess({
        "ROBOTSTXT_OBEY": True, "ADDONS": {"scrapy_robotspec.Addon": 500},
        "ROBOTSPEC_CRAWL_DELAY": True, "LOG_ENABLED": False,
    })
    process.crawl(Example)
    process.start()
    print(json.dumps([Example.objects, sorted(Example.kept)]))
    """
)


def callbacks() -> Iterator[str]:
    """The functions that are given to objects for good."""
    for path in PACKAGE.rglob("*.py"):
        classes = (
            node
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ClassDef)
        )
        for each in classes:
            given: list[ast.arg | ast.AnnAssign] = [
                node for node in each.body if isinstance(node, ast.AnnAssign)
            ]
            for node in each.body:
                if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                    given += [*node.args.args, *node.args.kwonlyargs]
            for one in given:
                name = one.arg if isinstance(one, ast.arg) else ast.unparse(one.target)
                kind = "" if one.annotation is None else ast.unparse(one.annotation)
                if kind.startswith("Callable") and name not in REPLACED:
                    yield f"{each.name}({name})"


#: Names under which a hot path has a member of another name.
_ALIASES = {"at": "time", "now": "time", "stated": "usage"}


def made_by_position(function: ast.AST) -> Iterator[tuple[str, list[str | None]]]:
    """The classes of tuples that *function* makes without a call of their own, with the values."""
    tuples = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tuple.__new__", "_new"):
            values = node.args[1]
            if isinstance(values, ast.Name):
                values = tuples[values.id]
            assert isinstance(values, ast.Tuple)
            yield ast.unparse(node.args[0]), [value_name(each) for each in values.elts]


def value_name(value: ast.expr) -> str | None:
    """The name of the member for which *value* is meant; None for a constant or a call."""
    name = ast.unparse(value).rpartition(".")[2]
    return _ALIASES.get(name, name) if name.isidentifier() and name.islower() else None


def members() -> dict[str, list[list[str]]]:
    """The members of the named tuples of the package, by the names of the classes."""
    found = defaultdict[str, list[list[str]]](list)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
                fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
                found[node.name].append(list(map(ast.unparse, fields)))
    return found


def are_in_order(values: list[str | None], fields: list[str]) -> bool:
    """Whether there is a value for each of *fields*, and none is meant for another one."""
    pairs = zip(values, fields, strict=False)
    return len(values) == len(fields) and all(value in (None, field) for value, field in pairs)


def test_a_tuple_made_by_position_has_the_members_of_its_class_in_order() -> None:
    """``Decision(...)`` would cost twice as much; a new member must not shift the values."""
    known, found = members(), list[tuple[str, list[str | None]]]()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found += made_by_position(node)
    assert {name for name, _ in found} >= {"Answer", "Decision", "Line", "LoggedDecision"}
    for name, values in found:
        assert any(are_in_order(values, fields) for fields in known[name]), name


def test_constructors_take_objects_instead_of_functions() -> None:
    found = list(callbacks())
    assert 0 < len(found) <= MAX_CALLBACKS, found


def test_no_object_keeps_a_method_of_another() -> None:
    with Server() as server:
        site = server.site("127.0.0.2", "User-agent: *\nCrawl-delay: 0.1\nDisallow: /no")
        command = [sys.executable, "-c", CRAWL, site.url("/yes")]
        objects, kept = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert objects > 10
    assert kept == []
