"""Index of user-agent lines: where each agent's rules are.

Searching the bytes for user-agent lines passes over the rules between them. Editions whose lines
are not plain read every line instead.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache, partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.editions import EDITIONS, AgentMatch
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.directives import DirectiveReader
from scrapy_robotspec.protocol.lines import skip_byte_order_mark
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: The fields of an edition that say how lines are read, and their plain values.
_lines_of = attrgetter(
    *("known_fields", "whitespace", "max_line", "fields_by_prefix", "missing_colon"),
    *("nul_ends_line", "blank_line_ends_group", "whole_agent_names"),
    *("empty_rules_decide_line", "index_html"),
)
_PLAIN = _lines_of(EDITIONS["google-2019"])
#: Begin and end offsets of rules in the file, alternating. Lines of other fields may be among them.
Spans = tuple[int, ...]
#: Where an agent is named: its name as first written, then the spans of its rules.
Place = tuple[Any, ...]

_WHITE = b" \t"
#: Max length of the values of user-agent lines that are cached (bytes).
_USUAL_VALUE = 64
#: In lower case: an allow or disallow line after another line.
find_rule = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:").search
#: In lower case: user-agent lines with their values.
_AGENTS = re.compile(rb"user-agent[ \t]*:[ \t]*([^\r\n#]*)").finditer
#: A value up to a comment or the line's end.
_VALUE = re.compile(rb"[^\r\n#]*")

_ALLOWS = {b"allow": True, b"disallow": False}
#: The same, with the usual spellings.
_KINDS = _ALLOWS | {b"Allow": True, b"Disallow": False}


def has_plain_lines(edition: Edition) -> bool:
    """Whether these functions can read lines for an edition."""
    return _lines_of(edition) == _PLAIN and edition.agent_match is not AgentMatch.CONTAINED


def index_agents(body: bytes, edition: Edition) -> dict[str, Place]:
    """The agents that a file names, by key."""
    return (_index_plain_lines if has_plain_lines(edition) else _index_lines)(body, edition)


def _index_plain_lines(body: bytes, edition: Edition) -> dict[str, Place]:
    index: dict[str, Place] = {}
    named: dict[str, Place] = {}  # since the last rule
    group = begin = 0  # offsets of the group, and of the end of its last agent
    lowered, usual = body.lower(), _agent_cache(edition)
    first = skip_byte_order_mark(body, edition)
    for match in _AGENTS(lowered, first):
        at, end = match.span()
        if lowered[at - 1] not in b"\r\n" and not _begins_line(body, at, first):
            continue
        if named and find_rule(lowered, begin, at):
            _end_group(index, named, group, begin, at)
            named = {}  # a rule ends the list of agents
        if not named:
            group = at
        begin = end
        value = body[match.start(1) : end].rstrip(_WHITE)
        agent = usual(value) if len(value) <= _USUAL_VALUE else _agent(edition, value)
        if agent is not None:
            named.setdefault(*agent)
    _end_group(index, named, group, begin, len(body))
    return index


def _agent(edition: Edition, value: bytes) -> tuple[str, Place] | None:
    """Key and name of the agent that a user-agent line names."""
    name = named_agent(value, edition)
    return None if name is None else (key_of(name, edition), (name,))


@lru_cache(maxsize=16)
def _agent_cache(edition: Edition) -> Callable[[bytes], tuple[str, Place] | None]:
    """:func:`_agent`, for values that many files contain."""
    return lru_cache(maxsize=1024)(partial(_agent, edition))


def _end_group(
    index: dict[str, Place], named: Mapping[str, Place], group: int, begin: int, end: int
) -> None:
    """Add a group's rules to its agents."""
    for key, name in named.items():
        place = index.get(key, name)
        if place[-1] == group:  # nothing between this group and the agent's last one
            index[key] = (*place[:-1], end)
        else:
            index[key] = (*place, begin, end)


def _begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in _WHITE:
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def _index_lines(body: bytes, edition: Edition) -> dict[str, Place]:
    index: dict[str, Place] = {}
    named: dict[str, Place] = {}
    group = first = -1  # the offsets of a group and of its first rule
    reader = _reader(edition)
    lines = reader.read(body, skip_byte_order_mark(body, edition), len(body))
    for start, field, value in chain(lines, [(len(body), "", b"")]):
        if field == "" or (field == "user-agent" and first >= 0):
            if edition.whole_agent_names and DEFAULT in named:
                named = {DEFAULT: named[DEFAULT]}  # UAG-10
            if first >= 0:
                _end_group(index, named, group, first, start)
            for key, name in named.items():
                index.setdefault(key, name)
            named, group, first = {}, -1, -1
        if field == "user-agent":
            group = start if group < 0 else group
            agent = _agent(edition, value)
            if agent is not None:
                named.setdefault(*agent)
        elif group >= 0 > first and (field == "disallow" or field == "allow"):
            first = start
    return index


def rules_in(body: bytes, spans: Spans, edition: Edition) -> list[RawRule]:
    """The rules on the lines of some spans, in file order."""
    parts = zip(spans[::2], spans[1::2], strict=True)
    if has_plain_lines(edition):
        return [rule for begin, end in parts for rule in _plain_rules(body[begin:end], begin)]
    read = _reader(edition).read
    return [
        (field == "allow", value, start)
        for begin, end in parts
        for start, field, value in read(body, begin, end)
        if field == "disallow" or field == "allow"
    ]


def _plain_rules(part: bytes, start: int) -> list[RawRule]:
    """The rules of a part of a file that begins at an offset."""
    rules: list[RawRule] = []
    kinds: dict[bytes, bool | None] = dict(_KINDS)  # by fields as written
    commented = b"#" in part
    for line in part.splitlines(keepends=True):  # hot path
        name, colon, value = line.partition(b":")
        allow = kinds.get(name)
        if allow is None and name not in kinds:
            allow = kinds[name] = _ALLOWS.get(name.strip(_WHITE).lower())
        if allow is not None and colon:
            if commented:
                value = value.partition(b"#")[0]
            rules.append((allow, value.strip(b" \t\r\n"), start))
        start += len(line)
    return rules


def _reader(edition: Edition) -> DirectiveReader:
    """Reads the lines that make groups and rules."""
    fields = tuple(pair for pair in edition.known_fields if pair[1] != "sitemap")
    return DirectiveReader(edition, fields)


def rule_around(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
    """The rule on the line with a colon, if any."""
    start = body.rfind(b"\n", begin, colon) + 1 or begin
    start = body.rfind(b"\r", start, colon) + 1 or start
    allow = _ALLOWS.get(body[start:colon].strip(_WHITE).lower())
    if allow is None:
        return None
    return allow, _value_at(body, colon + 1, end), start


def _value_at(body: bytes, begin: int, end: int = sys.maxsize) -> bytes:
    """What stands from an offset to a comment or the line's end."""
    return _VALUE.match(body, begin, end)[0].strip(_WHITE)  # type: ignore[index]  # may be empty
