"""Plain English: no private words, and short first lines of docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import run

ROOT = Path(run.__file__).parent
PACKAGE = ROOT / "scrapy_robotspec"
#: Folders of Python files that others read, too.
FOLDERS = (PACKAGE, ROOT / "conformance", ROOT / "fuzz", ROOT / "tests" / "support")

#: Words of the project's former private language, and measures that give no number.
BANNED = re.compile(
    r"\b(whoever|so many|so long|so much|in vain|at hand|by turns|is no [a-z]+"
    r"|octets?|hallway|shelf|flights|lanes?|rulings?|ledger|crowds?|patience|the stair|the house"
    r"|gives? way|gave way|nobody|somebody|anew|told|misspelt)\b",
    re.IGNORECASE,
)
#: Beginnings of sentences that put a clause before the subject.
CLAUSES = re.compile(
    r"(?:^|(?<=[.!?])\s+)(?:(?:What|Who)(?:ever)?|Those (?:that|who)|Of [a-z]+)\b[^.?]*(?:[.]|$)"
)
#: Longest first line of a docstring (words).
MAX_WORDS = 12


def modules() -> Iterator[Path]:
    """All Python files of the package and of what stands on it."""
    for folder in FOLDERS:
        yield from folder.rglob("*.py")


def texts() -> Iterator[Path]:
    """All files of the package, the documentation and the README."""
    yield from modules()
    for suffix in ("*.html", "*.css"):
        yield from PACKAGE.rglob(suffix)
    yield from (ROOT / "docs").glob("*.md")
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    yield from (ROOT / "example_project").rglob("*.md")
    yield from (ROOT / "conformance").glob("*.md")


@pytest.mark.parametrize("path", sorted(texts()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_words(path: Path) -> None:
    """A stranger reads every word as it is meant in HTTP, RFC 9309 or Scrapy."""
    lines = path.read_text("utf-8").splitlines()
    found = [f"{n}: {line.strip()}" for n, line in enumerate(lines, 1) if BANNED.search(line)]
    assert found == []


def sentences(source: str) -> Iterator[str]:
    """Each paragraph of a docstring or a comment, on one line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str(text))):
                yield from (" ".join(part.split()) for part in text.split("\n\n"))
    for block in re.findall(r"(?:^[ ]*#.*\n)+", source, re.M):
        yield " ".join(re.sub(r"^[ ]*#:? ?", "", block, flags=re.M).split())


@pytest.mark.parametrize("path", sorted(modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_begin_with_their_subject(path: Path) -> None:
    """A reader of the first words knows what a function or a value is."""
    found = [text for text in sentences(path.read_text("utf-8")) if CLAUSES.search(text)]
    assert found == []


def first_lines(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and first docstring line of a module and what is public in it."""
    yield "module", ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring and not node.name.startswith("_"):
                yield node.name, docstring


@pytest.mark.parametrize("path", sorted(modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_first_docstring_lines_are_short(path: Path) -> None:
    """Every module has a docstring, and no first line of one is long."""
    found = dict(first_lines(ast.parse(path.read_text("utf-8"))))
    assert found["module"], "the module has no docstring"
    long = {
        name: first
        for name, text in found.items()
        if len((first := text.splitlines()[0]).split()) > MAX_WORDS
    }
    assert long == {}
