"""Lists of names on the pages are those of the code: columns, members, labels, options, classes."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import click
import pytest

import run
from scrapy_robotspec import bulk
from scrapy_robotspec.access import account, usage_policy
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.cli.app import COMMANDS, robotspec
from scrapy_robotspec.plugin.recording import fetch_archive
from scrapy_robotspec.protocol.file_kind import FileKind

ROOT = Path(run.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def first_cells(page: str, head: str) -> list[str]:
    """The names in the first column of the table with the head *head*."""
    rows = text_of(page).partition(f"{head}\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert rows, "the table is not on the page"
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def test_columns_of_bulk_runs() -> None:
    assert sorted(first_cells("bulk.md", "| column | meaning |")) == sorted(bulk.SCHEMA.names)


def test_labels_of_usage_preferences() -> None:
    shown = first_cells("usage.md", "| label | meaning | source |")
    assert sorted(shown) == sorted(usage_policy.KNOWN_LABELS)


def test_reasons_of_a_page_that_was_let_through() -> None:
    (row,) = re.findall(r"^\| `reason` \| (.+) \|$", text_of("spiders.md"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == {*account._ALLOWED} - {EXEMPT}


@pytest.mark.parametrize("page", ["spiders.md", "settings.md"])
def test_kinds_of_contents_that_are_no_robots_txt(page: str) -> None:
    """The first word of each, but for the rarest."""
    words = {kind.value.partition(" ")[0] for kind in FileKind} - {"UTF-32"}
    passages = re.findall(
        r"(?:by kind: |Such responses are )([^…]+?)(?: …|\bwithout)", text_of(page)
    )
    (passage,) = passages
    assert words == {word for word in words if re.search(rf"\b{word}\b", passage)}


def test_members_of_a_decision() -> None:
    module = ast.parse((ROOT / "scrapy_robotspec/evidence/log_lines.py").read_text("utf-8"))
    members = {"number", "time", "stage", "url"}  # of the part that no other line shares
    made = [each for each in module.body if isinstance(each, ast.FunctionDef)]  # not by a state
    for node in (node for each in made for node in ast.walk(each)):
        keys: list[ast.expr | None] = [*node.keys] if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        members.update(str(key.value) for key in keys if isinstance(key, ast.Constant))
    table = text_of("evidence.md").partition("| field of a decision | meaning |")[2]
    assert members <= set(re.findall(r"`(\w+)`", table.partition("\n\n")[0]))


@cache
def classes() -> dict[str, ast.ClassDef]:
    """The package's classes by name."""
    return {
        node.name: node
        for path in (ROOT / "scrapy_robotspec").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def test_classes_and_methods_of_the_architecture() -> None:
    """Each name of the request flow exists, with the method that is called there."""
    page = text_of("architecture.md")
    flow = re.findall(r"^ {4}(.+)$|^\| \w+ \| `(.+?)` \|", page, re.MULTILINE)
    steps = re.findall(r"\b((?:[A-Z][a-z]+)+)\.([a-z_]+)\b", str(flow))
    assert len(steps) > 15
    assert [step for step in steps if not has_method(*step)] == []


def has_method(name: str, method: str) -> bool:
    """Whether a class of the package has a method, or inherits one from elsewhere."""
    if name not in classes():
        return False
    body = classes()[name]
    own = {node.name for node in ast.walk(body) if isinstance(node, FUNCTIONS)}
    own |= {node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    return method in own or any(base_has(base, method) for base in body.bases)


def base_has(base: ast.expr, method: str) -> bool:
    name = ast.unparse(base).rpartition(".")[2]
    return has_method(name, method) if name in classes() else True


def test_headers_whose_values_are_archived() -> None:
    (passage,) = re.findall(r"request headers other than (.+?) and those that", flat("evidence.md"))
    assert sorted(re.findall(r"`([\w-]+)`", passage)) == sorted(fetch_archive._SHOWN)


def flat(page: str) -> str:
    return " ".join(text_of(page).split())


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SCRIPT = re.compile(r"python3? ((?:benchmarks|docs|example_project)/[\w/]+\.py)([^`\n]*)")
COMMAND = re.compile(r"(?<![\w/.-])robotspec (" + "|".join(COMMANDS) + r")\b([^`\n]*)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_of_scripts_and_commands(page: Path) -> None:
    """Each script that a page runs has the options that stand there, as has each command."""
    text = page.read_text(encoding="utf-8")
    for path, arguments in SCRIPT.findall(text):
        source = (ROOT / path).read_text(encoding="utf-8")
        assert [name for name in options_in(arguments) if f'"{name}"' not in source] == [], path
    for name, arguments in COMMAND.findall(text):
        command = robotspec.get_command(click.Context(robotspec), name)
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert options_in(arguments) <= known, name


def options_in(arguments: str) -> set[str]:
    return set(re.findall(r"(?<=\s)--[a-z][\w-]*", arguments))


def test_texts_of_the_log_that_lead_to_a_remedy() -> None:
    """Each part of a text that the log varies stands in the package."""
    files = (ROOT / "scrapy_robotspec").rglob("*")
    source = "\n".join(
        path.read_text("utf-8") for path in files if path.suffix in (".py", ".tsv", ".json")
    )
    texts = first_cells("why.md", "| log line | cause | remedy |")
    parts = {
        part.strip() for text in texts for part in re.split(r"[\d…]+|: |, |[()]\)?| at ", text)
    }
    assert len(parts) > 10
    assert [part for part in parts if part not in source] == []
