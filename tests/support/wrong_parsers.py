"""Wrong parsers: copies of the reference, each with one mistake.

``tests/nightly/conformance`` lists plausible ones, ``fuzz/wrong_parsers.py`` makes random
ones.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from conformance.cases import Case, cases_of
from scrapy_robotspec.editions import EDITIONS, Edition
from tests.support import reference
from tests.support.reference import PlainGroup

SOURCE = Path(reference.__file__)
#: Longest time that a wrong parser may take for all cases (seconds).
TIME_LIMIT = 60.0
#: Specifications that say enough for most mistakes to be violations.
MODERN = ("rfc9309", "google", "google-2019", "google-2010")


@dataclass(frozen=True)
class Wrong:
    """A mistake in a copy of the reference or of an edition."""

    words: str
    change: Callable[[ModuleType], None] = lambda parser: None
    specifications: tuple[str, ...] = MODERN
    """The specifications that it violates."""
    statement: str = ""
    """The statement whose required cases it fails; empty: any."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Values of the edition that another specification has."""


@cache
def _code() -> CodeType:
    return compile(SOURCE.read_text("utf-8"), "wrong parser", "exec")


def new_parser() -> ModuleType:
    """A copy of the reference module."""
    parser = ModuleType(reference.__name__)
    vars(parser)["__file__"] = str(SOURCE)
    exec(_code(), vars(parser))
    return parser


@cache
def required_cases(specification: str) -> Sequence[Case]:
    """The required verdicts of a specification, small files first; without generated ones."""
    cases = [
        case
        for case in cases_of(specification)
        if case.required and case.question == "allowed" and case.data["statement"] != "REF"
    ]
    return sorted(cases, key=lambda case: (len(case.body), case.body))


def failed(wrong: Wrong, specification: str) -> Case | None:
    """The first required case that a wrong parser fails."""
    parser = new_parser()
    wrong.change(parser)
    cases = required_cases(specification)
    if wrong.statement:
        cases = [case for case in cases if case.data["statement"] == wrong.statement]
    return first_failure(parser, cases, replace(EDITIONS[specification], **wrong.fields))


def first_failure(parser: ModuleType, cases: Sequence[Case], edition: Edition) -> Case | None:
    """The first case with a wrong answer, an exception or no end."""
    case = None
    try:
        with time_limit(TIME_LIMIT):
            for body, of_body in groupby(cases, lambda each: each.body):
                groups = None
                for case in of_body:
                    groups = groups or parser.groups_of(body, edition)
                    verdict = parser.rule_by(groups, case.url, case.tokens, edition)
                    if verdict.allowed is not case.expected:
                        return case
    except Exception:
        return case or cases[0]
    return None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` in a parser that does not end after *seconds*."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- kinds of changes


def reads(change: Callable[[bytes], bytes]) -> Callable[[ModuleType], None]:
    """A parser that changes the file before it reads it."""

    def apply(parser: ModuleType) -> None:
        groups_of = parser.groups_of
        parser.groups_of = lambda body, edition: groups_of(change(body), edition)  # type: ignore[attr-defined]

    return apply


def text(change: Callable[[str], str]) -> Callable[[ModuleType], None]:
    """A parser that decodes the file and changes its text."""

    def changed(body: bytes) -> bytes:
        return change(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    return reads(changed)


def address(change: Callable[[str], str]) -> Callable[[ModuleType], None]:
    """A parser that changes the URL."""

    def apply(parser: ModuleType) -> None:
        path_of = parser.path_of
        parser.path_of = lambda url, edition: path_of(change(url), edition)  # type: ignore[attr-defined]

    return apply


def both(change: Callable[[str], str]) -> Callable[[ModuleType], None]:
    """A parser that changes the file and the URL alike."""

    def apply(parser: ModuleType) -> None:
        text(change)(parser)
        address(change)(parser)

    return apply


def groups(change: Callable[[list[PlainGroup]], list[PlainGroup]]) -> Callable[[ModuleType], None]:
    """A parser that makes other groups of a file."""

    def apply(parser: ModuleType) -> None:
        groups_of = parser.groups_of
        parser.groups_of = lambda body, edition: change(groups_of(body, edition))  # type: ignore[attr-defined]

    return apply


def function(name: str, instead: Callable[..., Any]) -> Callable[[ModuleType], None]:
    """A parser with another function; *instead* takes the right one first."""

    def apply(parser: ModuleType) -> None:
        right = getattr(parser, name)
        setattr(parser, name, lambda *arguments: instead(right, *arguments))

    return apply
