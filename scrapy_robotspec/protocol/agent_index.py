"""Index of user-agent lines: where each agent's rules are.

Searching the bytes for plain user-agent lines passes over the rules between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from scrapy_robotspec.editions import CONTAINED, Edition, has_plain_lines
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.lines import RawRule, begins_line, skip_byte_order_mark
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.packed import PackedSpans

#: Begin and end offsets of a group's rules. Lines of other fields may be among them.
Span = tuple[int, int]
#: The spans of some groups, in file order.
Spans: TypeAlias = "tuple[Span, ...] | PackedSpans"
#: An agent's name as first written, and the numbers of its groups in file order.
Place = tuple[str, Sequence[int]]
#: By key.
Places = Mapping[str, Place]
#: The same while they are found.
NewPlaces = dict[str, tuple[str, list[int]]]

#: Places and spans are packed from this many on.
MANY = 256
_FIELD = b"user-agent"
_WHITE = b" \t"
#: RFC 9309 section 2.2:
#:     rule = *WS ("allow" / "disallow") *WS ":" *WS (path-pattern / empty-pattern) EOL
#: up to its colon, in lower case, and the NL before it: a rule is below a user-agent line.
find_rule = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:").search
#: A blank line and the LF before it, where no CR stands alone.
_find_blank = re.compile(rb"\n[ \t]*\r?\n").search
#: RFC 9309 section 2.2:
#:     startgroupline = *WS "user-agent" *WS ":" *WS product-token EOL
#: from the field on. The rest of the line is ignored (UAG-03); without a token, the
#: value is read again (UAG-09). A lone star is its own name.
_AGENT = re.compile(rb"[ \t]*:[ \t]*(\*(?=[ \t]*(?:[\r\n#]|\Z))|[A-Za-z_-]*)[^\r\n]*").match
#: RFC 9309 section 2.2: EOL = *WS [comment] NL, comment = "#" *(UTF8-char-noctl / WS / "#").
#: A value goes on up to that; white space in it belongs to it, control characters too (FMT-07).
_VALUE = re.compile(rb"[^\r\n#]*")
#: A value of one letter, perhaps: no beginning of two letters finds it.
_find_letter = re.compile(rb"user-agent: [^*](?![a-z0-9])").search

_ALLOWS = {b"allow": True, b"disallow": False}


def index_agents(
    body: bytes, edition: Edition, beginnings: tuple[bytes, ...] = ()
) -> tuple[NewPlaces, list[Span], bool] | None:
    """The agents and rules of a plain file; None for another file.

    With *beginnings*, those of :func:`beginnings_of`, other agents may be left out. The last value
    says that none is.
    """
    lowered = body.lower()
    if not has_plain_lines(edition):
        from scrapy_robotspec.protocol.plain_lines import (
            is_plain,
        )  # few crawls select such editions

        if not is_plain(body, lowered, edition):
            return None
    if edition.agent_match is CONTAINED and _find_letter(lowered):
        beginnings = ()
    whole = edition.whole_agent_names
    find_end = _find_blank if edition.blank_line_ends_group else None
    places: NewPlaces = {}
    spans: list[Span] = []
    named: dict[str, str] = {}  # agents since the last rule
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
            if not named:
                continue
        if not begins_line(body, at, first):
            continue
        match = _AGENT(body, after)  # reads to the line's end
        if match is None:
            if edition.reads_other_spellings:
                return None
            continue
        if named:  # a rule ends the list of agents
            blank = find_end and find_end(body, begin, at)
            if blank or find_rule(lowered, begin, at):
                add_group(places, named, len(spans), whole)
                spans.append((begin, blank.start() if blank else at))
                named = {}
        begin = match.end()
        if is_wanted:
            name = None if whole else match[1].decode()
            name = name or named_agent(_value_at(body, match.start(1), begin), edition)
            if name is not None:
                named.setdefault(key_of(name, edition), name)
    blank = find_end and find_end(body, begin)
    add_group(places, named, len(spans), whole)
    spans.append((begin, blank.start() if blank else len(body)))
    return places, spans, is_complete


def add_group(places: NewPlaces, named: Mapping[str, str], number: int, whole: bool) -> None:
    """Add a group's agents by their keys; *whole* as in the edition."""
    if whole and DEFAULT in named:
        named = {DEFAULT: DEFAULT}  # UAG-10: its other names do not count
    for key, name in named.items():
        places.setdefault(key, (name, []))[1].append(number)


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
