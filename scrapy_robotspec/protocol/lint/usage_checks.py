"""Checks of usage statements, line by line and together (USE-01 to USE-07)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.lint.findings import Fault, Faults, read_data, shown
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.usage import (
    is_label,
    parse_dictionary,
    parse_preferences,
    split_path,
    written_parts,
)

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.groups import AllGroups
    from scrapy_robotspec.protocol.lines import Line

#: By field: the values of each label ("": of any other), and the labels of older drafts or of the
#: other vocabulary with the present one ("": none).
_VOCABULARIES = read_data("labels.json")
_FIRST_WORD = re.compile(rb"([^ \t=,;]*[^ \t=,;:])[ \t]+(?=[^ \t=])")
_NOTHING = "reads no preference"
#: The form of preferences, by field.
_FORMS = {"content-usage": "train-ai=n, search=y", "content-signal": "ai-train=no, search=yes"}
#: Most names of a group that are compared with those of others, and most signals above all groups.
_MOST = 20
#: Labels that are named as hidden by one path.
_MOST_HIDDEN = 10

#: Labels and their values, as written.
_Members = Sequence[tuple[str, "str | None"]]


class Statement(NamedTuple):
    """A Content-Usage or Content-Signal line."""

    line: Line
    path: bytes
    """Empty: the whole origin."""
    labels: Iterable[str]
    """Labels with a preference that is read."""


def read_statement(line: Line) -> Statement:
    """The path and labels of a usage line."""
    path, preferences = split_path(line.value)
    return Statement(line, path, parse_preferences(line.field, decode(preferences)))


def check_statement(line: Line) -> Iterator[Fault]:
    """Check a usage line's form and meaning."""
    _, preferences = split_path(line.value)
    members = _parse(line.field, preferences)
    if not members:
        yield *_explain_failure(line.field, preferences), _NOTHING
        return
    vocabulary = _VOCABULARIES[line.field]
    for label, value in members:
        values = vocabulary["values"].get(label, vocabulary["values"][""])  # USE-04, USE-07
        if value and ";" in value:
            fault = "A comma stands between preferences, not a semicolon"
            yield "RS501", fault, f"{_NOTHING} there"
        elif value not in values:
            fault = f"The value of {shown(label)} is not {' or '.join(values)}"
            yield "RS503", fault, f"{_NOTHING} there"
        present = vocabulary["old"].get(label)
        if present is not None:
            instead = f"the present label is {shown(present)}" if present else "no draft has it now"
            yield "RS507", f"{shown(label)} is an old label, {instead}", "hands it on"


def check_hidden(every: AllGroups) -> Faults:
    """Paths that hide a shorter path's label (USE-01)."""
    for_all = [read_statement(line) for line in every.signals[:_MOST]]
    by_crawler: dict[str, list[Statement]] = {}
    for group in every.groups:
        for line, above, before in group.others:
            if line.field in _VOCABULARIES:
                statement = read_statement(line)
                for key in dict.fromkeys(group.keys[before : min(above, before + _MOST)]):
                    by_crawler.setdefault(key, []).append(statement)
    found = {each for some in by_crawler.values() for each in _hidden([*for_all, *some])}
    for line, label, number in sorted(found):
        fault = f"The longer path hides {shown(label)} of line {number}"
        yield line, "RS505", fault, "reads the longest path only"


def _hidden(statements: Iterable[Statement]) -> Iterator[tuple[Line, str, int]]:
    """Lines, and a label with its line's number that each hides.

    Paths with wildcards are left out. A path is compared with the longest of the shorter ones only,
    and that one with the next.
    """
    stated: dict[bytes, tuple[Line, dict[str, int]]] = {}  # by field and path
    for each in statements:
        if b"*" not in each.path and not each.path.endswith(b"$"):
            key = b"%b %b" % (each.line.field.encode(), each.path)
            _, labels = stated.setdefault(key, (each.line, {}))
            for label in each.labels:
                labels.setdefault(label, each.line.number)
    shorter: list[bytes] = []  # prefixes of the path, the longest one last
    for key in sorted(stated):
        while shorter and not key.startswith(shorter[-1]):
            shorter.pop()
        if shorter:
            line, labels = stated[key]
            above = stated[shorter[-1]][1].items()
            hidden = ((line, label, number) for label, number in above if label not in labels)
            yield from islice(hidden, _MOST_HIDDEN)
        shorter.append(key)


def _parse(field: str, preferences: bytes) -> _Members:
    value = decode(preferences)
    if field == "content-signal":
        parts = list(written_parts(value))
        return parts if any(is_label(label) for label, _ in parts) else []
    return [*(parse_dictionary(value) or {}).items()]


def _explain_failure(field: str, preferences: bytes) -> tuple[str, str]:
    """Code and message for preferences that cannot be read."""
    if not preferences:
        return "RS501", "The statement has no preferences"
    if _parse(field, preferences.lower()):
        return "RS502", "Labels are written in lower case"
    word = _FIRST_WORD.match(preferences)
    if word and _parse(field, preferences[word.end() :]):
        return "RS504", f"The path {shown(decode(word[1]))} does not start with a slash"
    return "RS501", f"Preferences have the form {_FORMS[field]}"
