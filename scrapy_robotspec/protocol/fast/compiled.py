"""A compiled file: groups followed, and their rules.

The first question to a group is answered from its bytes if lines are plain: many origins of a broad
crawl are asked about one page, and this costs a fifth of compiling. The second question compiles
the rules. The second crawler has the user-agent lines indexed; crawlers that follow the same groups
share rules.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.agent_index import (
    OTHER_BEGINNINGS,
    groups_of,
    has_plain_lines,
    index_agents,
    rule_around,
    rules_in,
)
from scrapy_robotspec.protocol.agents import asked_keys, beginning_of, followed_keys
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, best_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place, Spans
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.models import Verdict

    _Search = Callable[[bytes, int, int], Iterator[re.Match[bytes]]]

#: Max crawlers that a file remembers.
KEPT = 256
#: Max product of the path's length and the bytes to search; beyond it rules are compiled.
_MAX_BYTES = 1 << 26
#: Max product of the rules to try and the path's length, which counts as 32 or more (characters),
#: and max bytes of their patterns.
_MAX_TRIED = 1 << 16
#: Bytes with another canonical spelling, in some place, for a character class (PAT-12).
_ESCAPED = rb'\x00-\x20"\'<>\[\\\]^`{|}\x7f-\xff'


class Block:
    """The rules of some groups, for all crawlers that follow them."""

    __slots__ = ("compiled", "key", "spans", "url")

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self.compiled: RuleSet | None = None  # until the second question
        self.url: str | bytes | None = None  # the first question
        self.key = 0  # its answer


class CompiledSelection:
    """The groups that some crawler follows in a file."""

    __slots__ = ("block", "names", "tokens", "verdicts")

    tokens: Tokens
    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    block: Block
    verdicts: dict[int, Verdict]
    """Cache of the verdicts, by precedence key."""

    def __init__(self, tokens: Tokens, names: tuple[str, ...], block: Block) -> None:
        self.tokens = tokens
        self.names = names
        self.block = block
        self.verdicts = {}


class CompiledFile:
    """Matches (URL, tokens) against a file's rules."""

    __slots__ = ("_blocks", "_body", "_edition", "_index", "_selections")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self._body = body
        self._edition = edition
        # None until the second crawler: in most crawls there is one.
        self._index: Mapping[str, Place] | None = None
        self._blocks: dict[Spans, Block] | None = None
        self._selections: dict[Tokens, CompiledSelection] = {}

    def select(self, tokens: Tokens) -> CompiledSelection:
        """The groups that a crawler follows."""
        return self._selections.get(tokens) or self._select(tokens)

    def _select(self, tokens: Tokens) -> CompiledSelection:
        edition, index = self._edition, self._index
        if not self._selections:
            keys = asked_keys(tokens, edition)
            wanted = (*[beginning_of(key, edition) for key in keys], *OTHER_BEGINNINGS)
            index = index_agents(self._body, edition, wanted)
        elif index is None:
            known = [each.block for each in list(self._selections.values())]
            self._blocks = {block.spans: block for block in known}
            index = self._index = index_agents(self._body, edition)
        elif len(self._selections) >= KEPT:
            self._selections, self._blocks = {}, {}
        keys = followed_keys(index, tokens, edition)
        spans = tuple(index[keys[0]][1]) if keys else ()
        if len(keys) > 1:  # a group may name several of them
            groups = {group for key in keys for group in groups_of(index[key][1])}
            spans = tuple(chain.from_iterable(sorted(groups)))
        block = Block(spans)
        if self._blocks is not None:
            block = self._blocks.setdefault(spans, block)
        names = tuple([index[key][0] for key in keys])
        selection = self._selections[tokens] = CompiledSelection(tokens, names, block)
        return selection

    def find(self, url: str | bytes, block: Block) -> int:
        """The deciding precedence key of some groups."""
        if block.compiled is not None:
            return block.compiled.find(url)
        if block.url is None:
            key = find_uncompiled(self._body, block.spans, url, self._edition)
            if key is not None:
                block.url, block.key = url, key
                return key
        elif block.url == url:  # as many crawlers ask about one page
            return block.key
        rules = rules_in(self._body, block.spans, self._edition)
        block.compiled = RuleSet(rules, self._edition)
        return block.compiled.find(url)


# --- rules that are not compiled


def find_uncompiled(body: bytes, spans: Spans, url: str | bytes, edition: Edition) -> int | None:
    """The deciding key; None if compiling costs less."""
    path = path_of(url, edition)
    if path == ROBOTS_TXT and edition.robots_txt_allowed:
        return ITSELF
    size = spans[-1] - spans[0] if spans else 0
    if size > _MAX_BYTES // len(path) or not has_plain_lines(edition):
        return None
    rules = prefilter_bytes(body, spans, path.encode("ascii"), edition)
    if not rules:
        return NO_RULE
    cost = max(len(rules) * max(len(path), 32), sum(len(value) for _, value, _ in rules))
    return None if cost > _MAX_TRIED else best_key(rules, path, edition)


def prefilter_bytes(body: bytes, spans: Spans, path: bytes, edition: Edition) -> list[RawRule]:
    """The rules that may match a path, and a few more.

    One search passes over the lines whose pattern begins with another letter than the path.
    """
    found: list[RawRule] = []
    search = _beginnings(path[1:2], edition.slashless is Slashless.ASSUMED)
    for begin, end in zip(spans[::2], spans[1::2], strict=True):
        last = begin  # no byte is searched twice for a line end
        for match in search(body, begin, end):
            first, second = match.groups(b"")
            if second in path and path.startswith(first):
                colon = match.start()
                rule = rule_around(body, last, colon, end)
                if rule is not None:
                    found.append(rule)
                last = colon
    return found


@lru_cache
def _beginnings(second: bytes, slash_assumed: bool) -> _Search:
    """Finds colons, each with the first literal of a value and the literal after its last star.

    The second byte of a value that begins with a slash must be *second*, or may have another
    spelling or meaning, or is missing. Only the bytes of the two literals that a matching path
    contains unchanged are captured.
    """
    ordinary = rb"[^*$%#" + _ESCAPED + rb"]"
    escapes = rb"(?:%(?:2[0-35689BCF]|3A|[89A-F][0-9A-F])" + ordinary + rb"*)*"  # canonical ones
    special = re.escape(second) + rb"*$%#" + _ESCAPED
    others = rb"(?=[^/ \t\r\n#])" if slash_assumed else rb"(?=\*)"
    first = rb"(/(?![^" + special + rb"])" + ordinary + rb"*" + escapes + rb"|" + others + rb")"
    return re.compile(rb":[ \t]*" + first + rb"(?:\*+(" + ordinary + rb"+)){0,9}").finditer
