"""Index of user-agent lines: where each agent's rules are.

Searching the bytes for plain user-agent lines passes over the rules between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import named_agent
from scrapy_robotspec.protocol.lines import RawRule, skip_byte_order_mark

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Begin and end offsets of a group's rules. Lines of other fields may be among them.
Span = tuple[int, int]
#: The spans of some groups, in file order.
Spans = tuple[Span, ...]
#: An agent's name as first written, and the numbers of its groups in file order.
Place = tuple[str, list[int]]
#: By key.
Places = Mapping[str, Place]

_FIELD = b"user-agent"
_WHITE = b" \t"
#: RFC 9309 section 2.2:
#:     rule = *WS ("allow" / "disallow") *WS ":" *WS (path-pattern / empty-pattern) EOL
#: up to its colon, in lower case, and the NL before it: a rule is below a user-agent line.
find_rule = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:").search
#: RFC 9309 section 2.2:
#:     startgroupline = *WS "user-agent" *WS ":" *WS product-token EOL
#: from the field on. The rest of the line is ignored (UAG-03); without a token, the
#: value is read again (UAG-09).
_AGENT = re.compile(rb"[ \t]*:[ \t]*([A-Za-z_-]*)[^\r\n]*").match
#: RFC 9309 section 2.2: EOL = *WS [comment] NL, comment = "#" *(UTF8-char-noctl / WS / "#").
#: A value goes on up to that; white space in it belongs to it, control characters too (FMT-07).
_VALUE = re.compile(rb"[^\r\n#]*")

_ALLOWS = {b"allow": True, b"disallow": False}


def index_agents(
    body: bytes, edition: Edition, beginnings: tuple[bytes, ...] = ()
) -> tuple[Places, Sequence[Span], bool]:
    """The agents of a file of plain lines, and their rules.

    With *beginnings*, those of :func:`beginnings_of`, other agents may be left out. The last value
    says that none is.
    """
    lowered = body.lower()
    places: dict[str, Place] = {}
    spans: list[Span] = []
    is_named = False  # an agent, since the last rule
    is_complete = True
    begin = 0  # the end of the last user-agent line
    first = after = skip_byte_order_mark(body, edition)
    while (at := lowered.find(_FIELD, after)) >= 0:
        after = at + len(_FIELD)
        is_wanted = (
            not beginnings
            or not lowered.startswith(b": ", after)
            or lowered.startswith(beginnings, after + 2)
        )
        if not is_wanted:
            is_complete = False
            if not is_named:
                continue
        if not _begins_line(body, at, first):
            continue
        match = _AGENT(body, after)  # reads to the line's end
        if match is None:
            continue
        if is_named and find_rule(lowered, begin, at):
            spans.append((begin, at))
            is_named = False  # a rule ends the list of agents
        begin = match.end()
        if is_wanted:
            name = match[1].decode() or named_agent(_value_at(body, match.start(1), begin), edition)
            if name is not None:
                is_named = True
                key = name if edition.case_sensitive_tokens else name.lower()  # ASCII
                add_agent(places, key, name, len(spans))
    spans.append((begin, len(body)))
    return places, spans, is_complete


def add_agent(places: dict[str, Place], key: str, name: str, number: int) -> None:
    """Add an agent that the group of a number names."""
    place = places.get(key)
    if place is None:
        places[key] = (name, [number])
    elif place[1][-1] != number:  # an agent may be named twice
        place[1].append(number)


def _begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in _WHITE:
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def numbers_of(places: Places, keys: Sequence[str]) -> Sequence[int]:
    """The numbers of the groups of some keys, in file order."""
    if len(keys) == 1:
        return places[keys[0]][1]
    return sorted({number for key in keys for number in places[key][1]})  # a group may name several


def rules_in(body: bytes, spans: Spans) -> list[RawRule]:
    """The rules on the plain lines of some spans, in file order."""
    return [rule for begin, end in spans for rule in _plain_rules(body[begin:end], begin)]


def _plain_rules(part: bytes, start: int) -> list[RawRule]:
    """The rules of a part of a file that begins at an offset."""
    rules: list[RawRule] = []
    kinds: dict[bytes, bool | None] = {}  # by fields as written
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


def rule_around(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
    """The rule on the line with a colon, if any."""
    start = body.rfind(b"\n", begin, colon) + 1 or begin
    start = body.rfind(b"\r", start, colon) + 1 or start
    allow = _ALLOWS.get(body[start:colon].strip(_WHITE).lower())
    if allow is None:
        return None
    return allow, _value_at(body, colon + 1, end), start


def _value_at(body: bytes, begin: int, end: int) -> bytes:
    """The text from an offset to a comment or the line's end."""
    return _VALUE.match(body, begin, end)[0].strip(_WHITE)  # type: ignore[index]  # may be empty
