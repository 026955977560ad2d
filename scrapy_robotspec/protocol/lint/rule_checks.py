"""Checks of the path of one rule (FMT-07, RUL-04, PAT)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.lint.characters import code_points, kind_of, kinds, odd_in_path
from scrapy_robotspec.protocol.lint.codes import read_data
from scrapy_robotspec.protocol.lint.findings import Effect, shown
from scrapy_robotspec.protocol.lint.group_checks import EVERYTHING
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.effects import Effects
    from scrapy_robotspec.protocol.lint.findings import Claim, Faults
    from scrapy_robotspec.protocol.lint.group_reader import Group

#: A path in which there is nothing to check, unless text follows it.
_PLAIN = re.compile(rb"/(?!/)(?:[\w-]|[/.](?![/.]))*")
_NEVER = "never applies the rule"
_STARS = re.compile(rb"\*+")
#: A comment right behind a path, without a space in it: the fragment of a URL.
_FRAGMENT = re.compile(rb"[^\s:#]#[^\s#]*\s*\Z")
_ENTITY = re.compile(rb"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]+|#x[0-9a-f]+);", re.I)
#: Regular expressions, and parameters of routes.
_OTHER_NOTATION = re.compile(
    rb"\^/|\\[./?dws]|/\.[*+]|\A/?\(?\.[*+]|\[\^?[a-z0-9]-[a-z0-9]|\(\?|\([^()]*\|[^()]*\)"
    rb"|/:[a-z]|/[<{][a-z_:]+[>}]",
    re.I,
)
_DATA = read_data("patterns.json")
#: Text that is written instead of a path (RUL-04).
_VALUES = kinds(_DATA["values"])
#: Signs of paths with a reading of their own, which may depend on the edition.
_SIGNS = [(re.compile(row["pattern"].encode(), re.I), row) for row in _DATA["paths"]]


def check_rules(groups: Sequence[Group], effects: Effects, edition: Edition) -> Faults:
    """Check the paths of rules."""
    for group, line in ((each, line) for each in groups for line in each.rules):
        if _STARS.fullmatch(line.value):
            whole = effects.of_crawler(group.crawler)
            yield line, "RS310", "A star is not a path", whole if edition.wildcards else _NEVER
        elif line.value and not (_PLAIN.fullmatch(line.value) and line.text.endswith(line.value)):
            yield from _check_comment(line, group, effects)
            yield from _check_path(line, edition)


def _check_comment(line: Line, group: Group, effects: Effects) -> Faults:
    """Text that is meant as a part of the path (FMT-07)."""
    words = f"reads {shown(line.value)}"
    if entity := _ENTITY.search(line.text):
        yield line, "RS316", f"URLs do not contain the HTML entity {shown(entity[0])}", words
    elif _FRAGMENT.search(line.text):
        claims: tuple[Claim, ...] = ()
        if line.value in EVERYTHING:
            whole, claims = effects.of_crawler(group.crawler)
            words += f" and {whole}"
        yield line, "RS315", "A # begins a comment, in a path too", Effect(words, claims)


def _check_path(line: Line, edition: Edition) -> Faults:
    """Check a path that is not just a star."""
    path = decode(line.value)
    unslashed = "puts a slash before it" if edition.slashless is Slashless.ASSUMED else _NEVER
    if found := odd_in_path(path):
        read = "compares it too" if path.startswith("/") else unslashed
        yield line, "RS314", f"The path contains {found}", read
    elif _OTHER_NOTATION.search(line.value):
        special = "* and a final $" if edition.wildcards else "no character"
        fault = "The path looks like a regular expression or a route"
        yield line, "RS317", fault, f"reads {special} as special"
        return
    elif path.startswith("/") or (path[0] == "*" and edition.slashless is Slashless.PATTERN):
        pass
    elif kind := kind_of(path, _VALUES):
        yield line, "RS311", f"{shown(path)} is {kind}, not a path", unslashed
        return
    else:
        first = "" if path[0].isascii() else f", but with {code_points(path[0])}"
        yield line, "RS301", f"The path does not start with a slash{first}", unslashed
    for pattern, row in _SIGNS:
        sign = pattern.search(line.value)
        traits = row.get("in", {}).items()
        if sign and all(getattr(edition, name) is value for name, value in traits):
            fault = row["fault"].format(sign=shown(sign[0]), sign_code=sign[0][0])
            yield line, row["code"], fault, row["reads"]
