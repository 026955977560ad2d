"""The rules near a path, found in a file without compiling them.

Many origins of a broad crawl are asked about one page; this costs a fifth of compiling.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import SLASH_ASSUMED, Edition
from scrapy_robotspec.protocol.agent_index import Spans, rule_around
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.patterns import INDEX_PAGE
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, best_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_robotspec.protocol.lines import RawRule

    _Search = Callable[[bytes, int, int], Iterator[re.Match[bytes]]]

#: Max product of the path's length and the bytes to search; beyond it rules are compiled.
_MAX_BYTES = 1 << 26
#: Max product of the rules to try and the path's length, which counts as 32 or more (characters).
_MAX_TRIED = 1 << 16
#: Bytes with another canonical spelling, in some place, for a character class (PAT-12).
_ESCAPED = rb'\x00-\x20"\'<>\[\\\]^`{|}\x7f-\xff'


def find_uncompiled(body: bytes, spans: Spans, url: str | bytes, edition: Edition) -> int | None:
    """The deciding key; None if compiling costs less."""
    path = path_of(url, edition)
    if path == ROBOTS_TXT and edition.robots_txt_allowed:
        return ITSELF
    opens = edition.index_html and path[-1] == "/"  # PRE-05
    if opens and (INDEX_PAGE.encode() in body or (edition.decode_unreserved and b"%" in body)):
        return None
    size = spans[-1][1] - spans[0][0] if spans else 0
    if size > _MAX_BYTES // len(path):
        return None
    rules = near_rules(body, spans, path.encode("ascii"), edition)
    if not rules:
        return NO_RULE
    if len(rules) * max(len(path), 32) > _MAX_TRIED:
        return None
    return best_key(rules, path, edition)


def near_rules(body: bytes, spans: Spans, path: bytes, edition: Edition) -> list[RawRule]:
    """The rules that may match a path, and a few more.

    One search passes over the lines whose pattern begins with another letter than the path.
    """
    found: list[RawRule] = []
    is_assumed = edition.slashless is SLASH_ASSUMED
    search = _beginnings(path[1:2], is_assumed, edition.empty_rules_decide_line)
    for begin, end in spans:
        last = begin  # no byte is searched twice for a line end
        for match in search(body, begin, end):
            first, second = match.groups(b"")
            if path.startswith(first) and second in path:
                colon = match.start()
                rule = rule_around(body, last, colon, end)
                if rule is not None:
                    found.append(rule)
                last = colon
    return found


@lru_cache
def _beginnings(second: bytes, slash_assumed: bool, takes_empty: bool) -> _Search:
    """Finds colons, each with the first literal of a value and the literal after its last star.

    No other letter than that of "allow" stands before the colon of a rule.

    The second byte of a value that begins with a slash must be *second*, or may have another
    spelling or meaning, or is missing. Only the bytes of the two literals that a matching path
    contains unchanged are captured.
    """
    ordinary = rb"[^*$%#" + _ESCAPED + rb"]"
    escapes = rb"(?:%(?:2[0-35689BCF]|3A|[89A-F][0-9A-F])" + ordinary + rb"*)*"  # canonical ones
    special = re.escape(second) + rb"*$%#" + _ESCAPED
    others = rb"(?=[^/ \t\r\n#])" if slash_assumed else rb"(?=\*)"
    others += rb"|(?=[\r\n#]|\Z)" if takes_empty else b""  # RUL-02
    first = rb"(/(?![^" + special + rb"])" + ordinary + rb"*" + escapes + rb"|" + others + rb")"
    return re.compile(
        rb":(?<=[Ww \t]:)[ \t]*" + first + rb"(?:\*+(" + ordinary + rb"+)){0,9}"
    ).finditer
