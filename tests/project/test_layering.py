"""The stair: every module imports from lower steps only, whatever the place of the import.

Reads the source, so that imports in functions and for type checking count too.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import scrapy_robotspec

ROOT = Path(scrapy_robotspec.__file__).parent

#: Rooms from the lowest step up. Those on one step do not know each other.
STAIR = (
    {"errors", "editions", "signals"},
    {"protocol"},
    {"access"},
    {"store"},
    {"lookup"},
    {"render"},
    {"cli"},
    {"plugin"},
    {"__init__", "__main__"},
)
STEPS = {room: step for step, rooms in enumerate(STAIR) for room in rooms}
#: On the lowest step editions may raise errors.
NEIGHBOURS = {("editions", "errors"), ("__main__", "__init__")}

#: What besides the standard library each room may import.
ABROAD = {
    "protocol": {"http_sf"},
    "access": {"w3lib"},
    "store": {"redis"},
    "lookup": {"twisted"},
    "render": {"jinja2", "markupsafe"},
    "cli": {"click"},
    "plugin": {"scrapy", "twisted", "w3lib", "typing_extensions"},
}

MODULES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[int, str]]:
    """Line and full name of everything that a module imports."""
    package = ("scrapy_robotspec", *path.relative_to(ROOT).parent.parts)
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*parents, *([node.module] if node.module else [])))
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def in_house(name: str) -> str | None:
    """The room a full name lies in; None for what is not ours."""
    package, _, rest = name.partition(".")
    if package != "scrapy_robotspec":
        return None
    room = rest.partition(".")[0]
    return room if room in STEPS else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_from_lower_steps_only(path: Path) -> None:
    own = room_of(path)
    assert own in STEPS, f"{own} stands on no step of the stair"
    for line, name in imports(path):
        room = in_house(name)
        if room is None or room == own or (own, room) in NEIGHBOURS:
            continue
        assert STEPS[room] < STEPS[own], f"{path}:{line}: {own} imports {room}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_no_stranger(path: Path) -> None:
    """Only the plugin knows Scrapy; the protocol knows the standard library and Structured
    Fields alone."""
    allowed = ABROAD.get(room_of(path), set())
    for line, name in imports(path):
        top = name.partition(".")[0]
        if top != "scrapy_robotspec" and top not in sys.stdlib_module_names:
            assert top in allowed, f"{path}:{line}: {room_of(path)} imports {top}"


def test_every_module_says_what_belongs_in_it() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []
