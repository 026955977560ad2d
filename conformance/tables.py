"""Reads ``tables/*.toml``: cases as people write them, for all editions.

A ``[[case]]`` has ``ids`` (the statements it proves, the main one first), ``source``, ``why``,
``robots`` and ``ask``. An ask has ``question`` (``allowed`` where it is missing), ``token`` (one
or several; here or at the case), ``url`` (the path, or all of it), the answer ``is``, and the
answers of editions that differ, by name. ``editions`` limits a case to some. ``specification``
names the only specification of a case; without it each edition's is meant. ``open`` (here or at
the case) names specifications that leave the point open. ``bytes = true``: each character of
``robots`` is one byte. ``as_is = true``: the spelling of the file is the point. A long file has
``recipe`` in place of ``robots``, and is always as it is: pairs of a text and how often it stands
there (``cases.expand``). A long ``url`` or ``token`` may be such pairs, too.

The answer to ``allowed`` is ``allow`` or ``disallow`` with the deciding line, or ``allow`` and the
reason why no line decides, or ``error`` for a token that this package refuses. Other questions:
see README.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cases import expand

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
#: Editions of scrapy_robotspec that a table gives answers for.
EDITIONS = ("google-2019", "rfc9309", "google", "google-2010", "classic")
QUESTIONS = ("allowed", "sitemaps", "licenses", "crawl_delay", "other", "usage")
CASE_KEYS = {
    *("ids", "source", "why", "robots", "ask", "token", "bytes", "as_is", "editions", "open"),
    *("recipe", "specification"),
}
ASK_KEYS = {"question", "url", "is", "token", "open", *EDITIONS}
REASONS = {"no_rule", "no_group", "robots_txt_itself"}
#: Stands for the null that TOML lacks: no crawl delay, no usage preference at all.
NONE = "none"


@dataclass(frozen=True)
class Answer:
    """The expected verdict, and the line (0: none) or the reason."""

    allowed: bool
    line: int
    reason: str


@dataclass(frozen=True)
class Ask:
    """One question about a file."""

    question: str
    url: str
    tokens: tuple[str, ...]
    answers: Mapping[str, Any]
    """By edition: an ``Answer`` (None: a ``ValueError``), or another question's plain value.

    Under ``""``: the answer without any edition.
    """
    open: frozenset[str]
    """Specifications that leave the point open."""


@dataclass(frozen=True)
class TableCase:
    """A file and questions about it."""

    part: str
    """Name of the table."""
    ids: tuple[str, ...]
    why: str
    body: bytes
    recipe: Sequence[Sequence[Any]] | None
    """Pairs of a text and its number in a long file."""
    as_is: bool
    asks: tuple[Ask, ...]
    editions: tuple[str, ...]
    specification: str
    """The only specification of the case, or ``""`` for that of each edition."""

    def __str__(self) -> str:
        return f"{'+'.join(self.ids)} {self.why}"


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def read_tables() -> Sequence[TableCase]:
    """All cases of all tables, by table and in file order."""
    paths = sorted((HERE / "tables").glob("*.toml"))
    return tuple(_case(path.stem, raw) for path in paths for raw in read_toml(path)["case"])


def _case(part: str, raw: dict[str, Any]) -> TableCase:
    unknown = {*raw} - CASE_KEYS | {key for ask in raw["ask"] for key in {*ask} - ASK_KEYS}
    if unknown or not raw["source"] or not raw["why"]:
        raise ValueError(f"{part}, {raw.get('why')}: unknown or missing {unknown or 'source, why'}")
    editions = tuple(raw.get("editions", EDITIONS))
    return TableCase(
        part=part,
        ids=tuple(raw["ids"]),
        why=raw["why"],
        body=_body(raw),
        recipe=raw.get("recipe"),
        as_is=raw.get("as_is", "recipe" in raw),
        asks=tuple(_ask(ask, raw, editions) for ask in raw["ask"]),
        editions=editions,
        specification=raw.get("specification", ""),
    )


def _body(raw: dict[str, Any]) -> bytes:
    if "recipe" in raw:
        return expand(raw["recipe"]).encode()
    return str(raw["robots"]).encode("latin-1" if raw.get("bytes") else "utf-8")


def _ask(raw: dict[str, Any], case: dict[str, Any], editions: tuple[str, ...]) -> Ask:
    token = _text(raw.get("token", case.get("token", "FooBot")))
    url = _text(raw.get("url", ""))
    question = raw.get("question", "allowed")
    if question not in QUESTIONS:
        raise ValueError(f"unknown question: {question}")
    return Ask(
        question=question,
        url=f"http://example.com{url}" if url.startswith("/") else url,
        tokens=(token,) if isinstance(token, str) else tuple(token),
        answers={name: _answer(question, raw.get(name, raw["is"])) for name in ("", *editions)},
        open=frozenset((*case.get("open", ()), *raw.get("open", ()))),
    )


def _text(value: Any) -> Any:
    """A text as it stands, or made from a recipe; a list of tokens stays one."""
    is_recipe = isinstance(value, list) and any(isinstance(part, list) for part in value)
    return expand(value) if is_recipe else value


def _answer(question: str, value: Any) -> Any:
    if question != "allowed":
        return None if value == NONE else value
    if value == "error":
        return None
    verdict, _, basis = value.partition(" ")
    if verdict not in ("allow", "disallow"):
        raise ValueError(f"not a verdict: {value!r}")
    if basis.isdecimal():
        return Answer(verdict == "allow", int(basis), "rule")
    if basis not in REASONS or verdict == "disallow":
        raise ValueError(f"neither a line nor a reason: {value!r}")
    return Answer(True, 0, basis)
