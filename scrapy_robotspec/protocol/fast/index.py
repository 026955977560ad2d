"""User-agent lines -> where the rules that a crawler follows stand in the file.

For editions with plain lines only. Searching the bytes for user-agent lines passes over other
crawlers' groups. ``groups.select_groups`` is the plain counterpart.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import PLAIN_FIELDS, AgentMatch
from scrapy_robotspec.protocol.agents import candidates, fold, named_agent
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Begin and end offsets of rules in the file, alternating; the first line of each part may begin
#: within a user-agent line.
Spans = tuple[int, ...]

_FIELD = b"user-agent"
_WHITE = b" \t"
_WHITE_OR_END = b" \t\r\n"
#: An allow or disallow line behind another.
_A_RULE = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:", re.IGNORECASE)
#: A value up to a comment or the line's end.
_VALUE = re.compile(rb"[^\r\n#]*")
#: What follows the field of a user-agent line: the value, up to a comment or the line's end.
_AGENT = re.compile(rb"[ \t]*:[ \t]*([^\r\n#]*)")

#: The usual spellings of the two rule fields.
_ALLOW = {
    b"Disallow": False,
    b"disallow": False,
    b"DISALLOW": False,
    b"Allow": True,
    b"allow": True,
    b"ALLOW": True,
}


def has_plain_lines(edition: Edition) -> bool:
    """Whether an edition reads lines as this module does."""
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


class Columns(NamedTuple):
    """Many rules, as a column of each of their parts: no object for each rule."""

    allows: list[bool]
    values: list[bytes]
    starts: list[int]

    @classmethod
    def of(cls, rules: Sequence[RawRule]) -> Columns:
        """The same rules in columns."""
        return cls(
            [allow for allow, _, _ in rules],
            [value for _, value, _ in rules],
            [start for _, _, start in rules],
        )


class _Wanted(NamedTuple):
    """The keys that a crawler may follow."""

    order: dict[str, int]
    """The most specific first, the default last (UAG-05, UAG-07)."""
    beginnings: tuple[bytes, ...]
    """What the value of a relevant line begins with: a key in lower case, or white space."""


@lru_cache(maxsize=64)  # a crawl asks with the same few tokens of every file
def _wanted(tokens: tuple[str, ...], hyphens: bool, cased: bool) -> _Wanted:
    keys = (key for token in tokens for key in candidates(fold(token, cased), hyphens))
    ordered = [*dict.fromkeys(key for key in keys if key != DEFAULT), DEFAULT]
    beginnings = [key.encode("utf-8", "surrogatepass").lower() for key in ordered]
    return _Wanted({key: place for place, key in enumerate(ordered)}, (*beginnings, b" ", b"\t"))


def scan(body: bytes, tokens: tuple[str, ...], edition: Edition) -> tuple[tuple[str, ...], Spans]:
    """The names followed, as first written, and the spans of their rules, in file order.

    Only for an edition that :func:`has_plain_lines`.
    """
    cased = edition.case_sensitive_tokens
    wanted = _wanted(tokens, edition.agent_match is AgentMatch.HYPHEN_PREFIX, cased)
    none = best = len(wanted.order)  # place of the name followed; a later one is passed over
    names: tuple[str, ...] = ()
    spans: list[int] = []
    begin = -1  # where rules of the name followed may begin
    lowered = body.lower()
    first = len(BYTE_ORDER_MARK) if body.startswith(BYTE_ORDER_MARK) else 0
    place = lowered.find(_FIELD, first)
    while place >= 0:
        after = place + len(_FIELD)
        passed_over = (
            begin < 0
            and lowered.startswith(b": ", after)
            and not lowered.startswith(wanted.beginnings, after + 2)
        )
        match = None if passed_over else _AGENT.match(body, after)
        if match and _begins_line(body, place, first):
            if begin >= 0 and _A_RULE.search(body, begin, place):
                spans += begin, place
                begin = -1  # a rule ends the list of agents
            name = named_agent(match[1], edition)
            found = none if name is None else wanted.order.get(fold(name, cased), none)
            if found < best:
                best, names, spans = found, (name or DEFAULT,), []
            if begin >= 0 or found == best < none:
                begin = match.end()
        place = lowered.find(_FIELD, after)
    if begin >= 0:
        spans += begin, len(body)
    return names, tuple(spans)


def _begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in _WHITE:
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def rules_in(body: bytes, spans: Spans) -> Columns:
    """The rules on the lines of some spans, in file order."""
    rules = Columns([], [], [])
    for begin, end in zip(spans[::2], spans[1::2], strict=True):
        _read_between(body, begin, end, rules)
    return rules


def _read_between(body: bytes, begin: int, end: int, rules: Columns) -> None:
    """Add the rules between two offsets, the first of which may stand within a line."""
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
            add_allow(allow)
            add_value(value.strip(_WHITE_OR_END))
            add_start(begin)
        begin += len(line)


def rule_around(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
    """The rule on the line with a colon, if it is the colon of a rule."""
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
