"""Checks of one user-agent line (UAG-03, UAG-09, UAG-10)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agents import key_of, named_agent, product_name
from scrapy_robotspec.protocol.lint.crawlers import COLLECTORS, IGNORING, meant_crawler
from scrapy_robotspec.protocol.lint.findings import Remark, shown
from scrapy_robotspec.protocol.models import DEFAULT, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition

#: Text after a name that people write, and that crawlers ignore as they expect: a version, a star.
_IGNORED_TAIL = re.compile(r"(?<=.)(?:[ \t]*/.*|\*)\Z", re.S)

#: A User-Agent header of a browser, or of a crawler that poses as one.
_HEADER = re.compile(r"mozilla[ \t]*/|.*[(;][ \t]*compatible[ \t]*;", re.I | re.S)
#: Names after the first of a list.
_OTHER_NAMES = re.compile(r"[A-Za-z_*-]+[ \t]*[,;][ \t,;]*([A-Za-z_-].*)\Z", re.S)

#: Max names that are kept with their remarks, and the length of the longest (bytes).
_KEPT = 4096
_KEPT_LENGTH = 100


class Agent(NamedTuple):
    """The value of a user-agent line."""

    key: str | None
    """The key that its name is compared by; None where it names no crawler."""
    remarks: tuple[Remark, ...]


def read_agent(value: bytes, edition: Edition) -> Agent:
    """The value of a user-agent line. Files name the same few crawlers."""
    read = _read_agent if len(value) <= _KEPT_LENGTH else _read_agent.__wrapped__
    return read(value, edition)


@lru_cache(maxsize=_KEPT)
def _read_agent(value: bytes, edition: Edition) -> Agent:
    name = named_agent(value, edition)
    key = None if name is None else key_of(name, edition)
    return Agent(key, tuple(_check_agent(name, decode(value), edition)))


def _check_agent(name: str | None, value: str, edition: Edition) -> Iterator[Remark]:
    """Whether a value names one crawler, and nothing else."""
    meant = meant_crawler(value, edition)
    if meant is not None and meant.lower() != (name or "").lower():
        read = f"reads {_quoted(name)}" if name else "reads no name"
        yield Remark("RS210", f"{shown(value)} looks like {shown(meant)}; {edition.name} {read}.")
    elif _HEADER.match(value):
        written = f"write {shown(product_name(value))} instead of a User-Agent header"
        read = f"reads {_quoted(name)}" if name else "reads no name"
        yield Remark("RS211", f"A line has a name, {written}; {edition.name} {read}.")
    elif not name:
        read = "reads an empty name" if name == "" else "reads no name"
        yield Remark("RS202", f"The line names no crawler; {edition.name} {read}.")
    elif name not in (value, _IGNORED_TAIL.sub("", value)):
        others = _OTHER_NAMES.match(value)
        ignored = "The text after the name is ignored"
        if others is not None:  # erratum 8895 of RFC 9309
            ignored = f"A line names one crawler, so {shown(others[1])} is not kept out"
        yield Remark("RS203", f"{ignored}; {edition.name} reads {_quoted(name)}.")
    if name:
        yield from _check_obedience(name, edition)


def _check_obedience(name: str, edition: Edition) -> Iterator[Remark]:
    if name.lower() in IGNORING:
        known = "may ignore robots.txt, according to its operator"
    elif name.lower() in COLLECTORS:
        known = "collects e-mail addresses and ignores robots.txt"
    else:
        return
    yield Remark("RS209", f"{shown(name)} {known}; {edition.name} reads the group like any other.")


def _quoted(name: str) -> str:
    return "every crawler" if name == DEFAULT else shown(name)
