"""Both modules of private parts say which releases of Scrapy have each of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import version_info

from scrapy_robotspec.plugin import _compat, _compat_rare

#: The oldest release that the package works with.
OLDEST = (2, 13)
RELEASES = re.compile(r"\((2\.\d+)(?: on| to (2\.\d+))?\)")
#: Calls that look for a part by its name or path.
LOOKUPS = ("part", "hasattr", "getattr")
#: The table of parts is read by these.
OF_TABLE = ("part", "parts_missing_in", "_look_up")
FUNCTIONS = {
    node.name: node
    for module in (_compat, _compat_rare)
    for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    and node.name not in OF_TABLE
}


def parts_used(function: ast.AST) -> Iterator[str]:
    """Private members of others, parts that are looked for by name, releases compared with."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if re.match("_[a-z]", node.attr) and not is_own:
                yield node.attr
        elif isinstance(node, ast.Compare) and ast.unparse(node.left) == "version_info":
            yield ".".join(map(str, ast.literal_eval(node.comparators[0])))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in LOOKUPS:
            name = node.args[1]
            if isinstance(name, ast.Constant):
                yield str(name.value).rpartition(".")[2]


def uses_of(function: ast.AST) -> str:
    """What docstrings say behind ``Uses:``, of a class those of its methods."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    docstrings = [ast.get_docstring(each) for each in ast.walk(function) if isinstance(each, kinds)]
    return " ".join((each or "").partition("Uses:")[2] for each in docstrings)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_names_each_part_that_it_uses_with_its_releases(name: str) -> None:
    uses, parts = uses_of(FUNCTIONS[name]), set(parts_used(FUNCTIONS[name]))
    assert {part for part in parts if not re.search(rf"\b{part}\b", uses)} == set()
    releases = [each for found in RELEASES.findall(uses) for each in found if each]
    assert bool(releases) == bool(uses.strip()) >= bool(parts)
    for release in releases:
        assert OLDEST <= tuple(map(int, release.split("."))) <= max(version_info[:2], (2, 19))


def test_functions_that_use_no_part_stand_where_they_are_used() -> None:
    """But for those that compare components of settings by their names."""
    called = {name for name, function in FUNCTIONS.items() if name[0] != "_"}
    assert {name for name in called if not uses_of(FUNCTIONS[name]).strip()} == {
        "take_component",
        "is_component",
        "is_enabled",
    }
