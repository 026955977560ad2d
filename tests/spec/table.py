"""Reads the tables of ``cases/*.toml``: what they may hold, and how a case is delivered.

No expectation stands here. A table row says what each edition must answer; ``test_tables.py`` asks.

A ``[[case]]`` has ``ids`` (the statements it proves), ``source``, ``why``, ``robots`` and ``ask``.
An ask has a ``url`` (the path, or all of it), the answer ``is`` and, where an edition answers
otherwise, that edition's name and its answer. An answer is ``allow`` or ``disallow`` and the line
that decides, or ``allow`` and the reason why none does, or ``error`` for a ``ValueError``.
``token`` (one or several) stands at the ask or the case. ``octets = true``: each character of
``robots`` is one byte. ``as_is = true``: the spelling of the file is the point, so it is delivered
only as it stands. ``editions`` limits a case.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.editions import EDITIONS

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it along
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FOLDER = Path(__file__).parent / "cases"
CASE_KEYS = {"ids", "source", "why", "robots", "ask", "token", "octets", "as_is", "editions"}
ASK_KEYS = {"url", "is", "token", *EDITIONS}
REASONS = {"no_rule", "no_group", "robots_txt_itself"}


@dataclass(frozen=True)
class Answer:
    """What an edition must say: the verdict, and the line (0: none) or the reason."""

    allowed: bool
    line: int
    reason: str

    @classmethod
    def read(cls, text: str) -> Answer | None:
        if text == "error":
            return None
        verdict, _, basis = text.partition(" ")
        if verdict not in ("allow", "disallow"):
            raise ValueError(f"no verdict: {text!r}")
        if basis.isdecimal():
            return cls(verdict == "allow", int(basis), "rule")
        if basis not in REASONS or verdict == "disallow":
            raise ValueError(f"neither a line nor a reason: {text!r}")
        return cls(True, 0, basis)


@dataclass(frozen=True)
class Ask:
    url: str
    tokens: tuple[str, ...]
    answers: Mapping[str, Answer | None]
    """By edition; None for a ``ValueError``."""
    """By the edition's name."""


@dataclass(frozen=True)
class Case:
    part: str
    ids: tuple[str, ...]
    why: str
    body: bytes
    as_is: bool
    asks: tuple[Ask, ...]
    editions: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'+'.join(self.ids)} {self.why}"


def read_toml(path: Path) -> dict[str, Any]:
    """A table as it stands."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_cases() -> list[Case]:
    """Every case of every table."""
    paths = sorted(FOLDER.glob("*.toml"))
    return [_case(path.stem, raw) for path in paths for raw in read_toml(path)["case"]]


def _case(part: str, raw: dict[str, Any]) -> Case:
    unknown = (raw.keys() - CASE_KEYS) | {
        key for ask in raw["ask"] for key in ask.keys() - ASK_KEYS
    }
    if unknown or not raw["source"] or not raw["why"]:
        raise ValueError(f"{part}, {raw.get('why')}: unknown or missing {unknown or 'source, why'}")
    editions = tuple(raw.get("editions", EDITIONS))
    return Case(
        part=part,
        ids=tuple(raw["ids"]),
        why=raw["why"],
        body=raw["robots"].encode("latin-1" if raw.get("octets") else "utf-8"),
        as_is=raw.get("as_is", False),
        asks=tuple(_ask(ask, raw.get("token", "FooBot"), editions) for ask in raw["ask"]),
        editions=editions,
    )


def _ask(raw: dict[str, Any], token: str | list[str], editions: tuple[str, ...]) -> Ask:
    token = raw.get("token", token)
    url = raw["url"]
    return Ask(
        url=f"http://example.com{url}" if url.startswith("/") else url,
        tokens=(token,) if isinstance(token, str) else tuple(token),
        answers={name: Answer.read(raw.get(name, raw["is"])) for name in editions},
    )


# --- deliveries


def _comment_lines(body: bytes) -> bytes:
    """A comment line before every line: line n becomes line 2n."""
    return b"".join(b"# a: b\n" + line for line in body.splitlines(keepends=True))


def _comments_behind(body: bytes) -> bytes:
    """A comment at the end of every line that is not blank."""
    lines = body.splitlines()
    return b"".join((line + b" # c: /d" if line.strip() else line) + b"\n" for line in lines)


def _upper_fields(body: bytes) -> bytes:
    return _each_field(body, bytes.upper)


def _spaced(body: bytes) -> bytes:
    """White space around the line, the field, the colon and the value."""
    spaced = _each_field(body, lambda name: b" \t" + name + b"\t ")
    lines = (line.replace(b":", b": \t ", 1) for line in spaced.splitlines())
    return b"".join((line + b" \t" if line else line) + b"\n" for line in lines)


def _each_field(body: bytes, change: Callable[[bytes], bytes]) -> bytes:
    parts = (line.partition(b":") for line in body.splitlines(keepends=True))
    return b"".join(change(name) + colon + value if colon else name for name, colon, value in parts)


#: Spellings of a file that every edition reads alike.
DELIVERIES: Mapping[str, Callable[[bytes], bytes]] = {
    "as it stands": lambda body: body,
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "CR LF": lambda body: body.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "no final line end": lambda body: body.rstrip(b"\n"),
    "comment lines between": _comment_lines,
    "comments behind": _comments_behind,
    "fields in upper case": _upper_fields,
    "white space everywhere": _spaced,
}


def deliveries(case: Case) -> Iterator[tuple[str, bytes, int]]:
    """The spellings of a case's file: name, bytes, factor of its line numbers."""
    for name, spell in DELIVERIES.items():
        yield name, spell(case.body), 2 if spell is _comment_lines else 1
        if case.as_is:
            return
