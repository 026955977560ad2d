"""Checks of one user-agent line (UAG-03, UAG-09, UAG-10, USE-10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import key_of, named_agent, product_name
from scrapy_robotspec.protocol.lint.characters import odd
from scrapy_robotspec.protocol.lint.crawlers import (
    IGNORING,
    KNOWN_CRAWLERS,
    intended_crawler,
    is_known,
)
from scrapy_robotspec.protocol.lint.findings import shown
from scrapy_robotspec.protocol.models import DEFAULT, decode
from scrapy_robotspec.protocol.usage import POLICY_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.effects import Effects
    from scrapy_robotspec.protocol.lint.findings import Faults
    from scrapy_robotspec.protocol.lint.group_reader import Group

#: Text after a name that people write, and that crawlers ignore as they expect: a version, a star.
_IGNORED_TAIL = re.compile(r"(?<=.)(?:[ \t]*/.*|\*)\Z", re.S)

#: A User-Agent header of a browser, or of a crawler that poses as one.
_HEADER = re.compile(r"mozilla[ \t]*/|.*[(;][ \t]*compatible[ \t]*;", re.I | re.S)
#: The name after the first of a list.
_OTHER_NAME = re.compile(r"[A-Za-z_*-]+[ \t]*[,;|&][ \t,;|&]*([A-Za-z_-]{1,64})(?![A-Za-z_-])")


def check_agents(groups: Sequence[Group], effects: Effects, edition: Edition) -> Faults:
    """Check that each line names one crawler, and nothing else."""
    first_named: dict[str, int] = {}
    for group in groups:
        keys = frozenset(group.keys)
        for line in group.agents:
            name = named_agent(line.value, edition)
            if not odd(decode(line.value)):
                yield from _check_value(line, name, keys, effects, edition)
            if not name:
                continue
            if ignores := IGNORING.get(name.lower()):
                yield line, "RS209", f"{shown(name)} {ignores}", "reads the group like any other"
            if label := POLICY_TOKENS.get(name.lower()):
                fault = f"{shown(name)} is a policy token: it names a use, {shown(label)}"
                effect = "reads that pages the group disallows are not for this use"
                yield line, "RS508", fault, effect
            first = first_named.setdefault(key_of(name, edition), group.first.number)
            if first != group.first.number:
                yield line, "RS205", f"The group at line {first} names it too", "follows both"


def _check_value(
    line: Line, name: str | None, keys: frozenset[str], effects: Effects, edition: Edition
) -> Faults:
    """Check the value of a line, given the keys of its group."""
    value = decode(line.value)
    intended = intended_crawler(value, edition)
    read = f"reads {_quoted(name)}" if name else "reads no name"
    if not keys:
        read += ", so its rules hold for no crawler"
    if intended is not None and intended.lower() != (name or "").lower():
        yield line, "RS210", f"{shown(value)} looks like {shown(intended)}", read
    elif _HEADER.match(value):
        written = f"write {shown(product_name(value))} instead of a User-Agent header"
        yield line, "RS211", f"A line has a name, {written}", read
    elif _is_starred(value) and name != DEFAULT:
        begin = value.partition("*")[0].lower()
        begun = (each for each in KNOWN_CRAWLERS if begin and each.lower().startswith(begin))
        left_out = next((each for each in begun if not effects.follows(each, keys)), None)
        fault = "A star in a name is not a wildcard"
        fault += f", so {shown(left_out)} does not follow the group" if left_out else ""
        yield line, "RS214", fault, read
    elif not name:
        yield line, "RS202", "The line names no crawler", read
    elif name not in (value, _IGNORED_TAIL.sub("", value)):
        other = _OTHER_NAME.match(value)
        ignored = "The text after the name is ignored"
        if other is not None and not effects.follows(other[1], keys):  # erratum 8895 of RFC 9309
            ignored = f"A line names one crawler, so {shown(other[1])} does not follow the group"
        yield line, "RS203", ignored, read


def _is_starred(value: str) -> bool:
    """Whether a value is a name with a star in it, and not a well-known one."""
    name = value.partition("/")[0]
    is_name = "*" in name and any(letter.isalpha() for letter in name)
    return is_name and not is_known(name.removesuffix("*"))


def _quoted(name: str) -> str:
    return "every crawler" if name == DEFAULT else shown(name)
