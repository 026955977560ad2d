"""Index of user-agent lines: where each agent's rules are.

Searching the bytes for user-agent lines passes over the rules between them. Editions whose lines
are not plain read every line instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import PLAIN_FIELDS, AgentMatch
from scrapy_robotspec.protocol.agents import fold, key_of, named_agent
from scrapy_robotspec.protocol.groups import read_groups, read_rules
from scrapy_robotspec.protocol.lines import skip_byte_order_mark, text_at
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Begin and end offsets of rules in the file, alternating; the first line of each part may begin
#: within a user-agent line.
Spans = tuple[int, ...]

_FIELD = b"user-agent"
_WHITE = b" \t"
_WHITE_OR_END = b" \t\r\n"
#: An allow or disallow line after another line.
_A_RULE = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:", re.IGNORECASE).search
#: What follows the field of a user-agent line: the token, and the rest of the line.
_AGENT = re.compile(rb"[ \t]*:[ \t]*([A-Za-z_-]*)[^\r\n]*").match
#: A value up to a comment or the line's end.
_VALUE = re.compile(rb"[^\r\n#]*")

#: The usual spellings of the two rule fields.
_ALLOW = {
    b"Disallow": False,
    b"disallow": False,
    b"DISALLOW": False,
    b"Allow": True,
    b"allow": True,
    b"ALLOW": True,
}


class Columns(NamedTuple):
    """Many rules, stored as columns."""

    allows: list[bool]
    values: list[bytes]
    starts: list[int]


#: Where an agent is named: its name as first written, and the spans of its rules.
Place = tuple[str, list[int]]


def has_plain_lines(edition: Edition) -> bool:
    """Whether these functions can read lines for an edition."""
    return (
        edition.known_fields is PLAIN_FIELDS
        and edition.whitespace == _WHITE
        and edition.agent_match is not AgentMatch.CONTAINED
        and edition.max_line is None
        and not (
            edition.fields_by_prefix
            or edition.missing_colon
            or edition.nul_ends_line
            or edition.partial_bom
            or edition.blank_line_ends_group
            or edition.whole_agent_names
            or edition.empty_tokens
            or edition.combine_tokens
            or edition.empty_rules_decide_line
            or edition.index_html
        )
    )


def index_agents(
    body: bytes, edition: Edition, beginnings: tuple[bytes, ...] = ()
) -> Mapping[str, Place]:
    """The agents that a file names, by key.

    With *beginnings* (in lower case), agents whose names begin otherwise may be left out.
    """
    if has_plain_lines(edition):
        return _index_plain_lines(body, edition, beginnings)
    return _index_groups(body, edition)


def _index_plain_lines(
    body: bytes, edition: Edition, beginnings: tuple[bytes, ...]
) -> Mapping[str, Place]:
    index: dict[str, Place] = {}
    named: list[Place] = []  # since the last rule
    begin = 0  # the end of the last user-agent line
    lowered = body.lower()
    first = skip_byte_order_mark(body, edition)
    at = lowered.find(_FIELD, first)
    while at >= 0:
        after = at + len(_FIELD)
        passed_over = (
            beginnings
            and not named
            and lowered.startswith(b": ", after)
            and not lowered.startswith(beginnings, after + 2)
        )
        match = None if passed_over else _AGENT(body, after)
        if match and (lowered[at - 1] in b"\r\n" or _begins_line(body, at, first)):
            if named and _A_RULE(body, begin, at):
                _end_group(named, begin, at)
                named = []  # a rule ends the list of agents
            begin = match.end()
            name = _agent_named(match, edition)
            if name is not None:
                key = fold(name, edition.case_sensitive_tokens)
                if key not in index:
                    index[key] = (name, [])
                named.append(index[key])
        at = lowered.find(_FIELD, after)
    _end_group(named, begin, len(body))
    return index


def _agent_named(line: re.Match[bytes], edition: Edition) -> str | None:
    """As ``named_agent``, in fewer steps for a usual token."""
    token: bytes = line[1]
    if token:
        return token.decode("ascii")
    value = _VALUE.match(line.string, line.start(1))
    return named_agent(value[0], edition) if value else None


def _end_group(named: Sequence[Place], begin: int, end: int) -> None:
    for _, spans in named:
        if spans[-2:] != [begin, end]:  # an agent may be named twice
            spans += begin, end


def _begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in _WHITE:
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def _index_groups(body: bytes, edition: Edition) -> Mapping[str, Place]:
    index: dict[str, Place] = {}
    for group in read_groups(body, edition):
        keys = group.keys(edition)
        names = {key_of(name, edition): name for name in reversed(group.names)}
        for key in sorted(keys):
            _, spans = index.setdefault(key, (names[key], []))
            if group.rules:
                last = group.rules[-1][2]
                spans += group.rules[0][2], last + len(text_at(body, last))
    return index


def rules_in(body: bytes, spans: Spans, edition: Edition) -> Columns:
    """The rules on the lines of some spans, in file order."""
    rules = Columns([], [], [])
    for begin, end in zip(spans[::2], spans[1::2], strict=True):
        if has_plain_lines(edition):
            _read_plain_lines(body, begin, end, rules)
        else:
            for allow, value, start in read_rules(body[begin:end], edition):
                rules.allows.append(allow)
                rules.values.append(value)
                rules.starts.append(begin + start)
    return rules


def _read_plain_lines(body: bytes, begin: int, end: int, rules: Columns) -> None:
    """Add the rules between two offsets, the first of which may be within a line."""
    add_allow, add_value, add_start = rules.allows.append, rules.values.append, rules.starts.append
    part = body[begin:end]
    known = _ALLOW.get
    commented = b"#" in part
    for line in part.splitlines(keepends=True):
        name, colon, value = line.partition(b":")
        allow = known(name)
        if allow is None and colon:
            allow = known(name.strip(_WHITE).lower())
        if allow is not None and colon:
            if commented:
                value = value.partition(b"#")[0]  # one in the name makes it unknown
            value = value.strip(_WHITE_OR_END)
            if value:  # RUL-02
                add_allow(allow)
                add_value(value)
                add_start(begin)
        begin += len(line)


def rule_around(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
    """The rule on the line with a colon, if any."""
    start = body.rfind(b"\n", begin, colon) + 1 or begin
    start = body.rfind(b"\r", start, colon) + 1 or start
    name = body[start:colon]
    allow = _ALLOW.get(name)
    if allow is None:
        allow = _ALLOW.get(name.strip(_WHITE).lower())
        if allow is None:
            return None
    value = _VALUE.match(body, colon + 1, end)
    return allow, value[0].strip(_WHITE), start  # type: ignore[index]  # may be empty


#: What a relevant value may begin with besides a key: white space, and the default agent.
OTHER_BEGINNINGS = (b" ", b"\t", DEFAULT.encode())
