"""A compiled file: groups followed, and their rules.

The first question to a group is answered from its bytes: many origins of a broad crawl are asked
about one page, and this costs a fifth of compiling. The second question compiles the rules. The
second crawler has the user-agent lines indexed; crawlers that follow the same groups share rules.
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
from scrapy_robotspec.protocol.agents import beginnings, followed_keys
from scrapy_robotspec.protocol.fast.ruleset import RuleSet, compile_rules
from scrapy_robotspec.protocol.fast.wildcards import END, matches_with_end
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place, Spans
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.models import Verdict

    _Search = Callable[[bytes, int, int], Iterator[re.Match[bytes]]]

#: Max crawlers that a file remembers.
KEPT = 4096
#: Max product of the path's length and the bytes to search; beyond it rules are compiled.
_MAX_BYTES = 1 << 26
#: Max product of the rules to try and the path's length, which counts as 32 or more (characters),
#: and max bytes of their patterns.
_MAX_TRIED = 1 << 16
#: Bytes that are escaped in canonical text, for a character class (PAT-12).
_ESCAPED = rb'\x00-\x20"<>\[\\\]^`{|}\x7f-\xff'

_NO_VERDICTS: Mapping[int, Verdict] = {}


class Block:
    """Rules that hold for the same crawlers: one group, or several."""

    __slots__ = ("compiled", "key", "spans", "url")

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self.compiled: RuleSet | None = None  # until the second question
        self.url: str | bytes | None = None  # the first question
        self.key = 0  # its answer


class CompiledSelection:
    """The groups that some crawler follows in a file."""

    __slots__ = ("blocks", "names", "verdicts")

    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    blocks: Sequence[Block]
    verdicts: Mapping[int, Verdict]
    """Cache of the verdicts, by precedence key."""

    def __init__(self, names: tuple[str, ...], blocks: Sequence[Block]) -> None:
        self.names = names
        self.blocks = blocks
        self.verdicts = _NO_VERDICTS

    @property
    def rules(self) -> RuleSet | None:
        """The compiled rules, if they are of one block."""
        return self.blocks[0].compiled if len(self.blocks) == 1 else None


class CompiledFile:
    """Matches (URL, tokens) against a file's rules."""

    __slots__ = ("_body", "_crawlers", "_edition", "_first")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self._body = body
        self._edition = edition
        self._first: CompiledSelection | None = None
        self._crawlers: _Crawlers | None = None  # from the second crawler on

    def select(self, tokens: Tokens) -> CompiledSelection:
        """The groups that a crawler follows."""
        if self._crawlers is None:
            if self._first is None:
                self._first = self._select_first(tokens)
                return self._first
            index = index_agents(self._body, self._edition)
            self._crawlers = _Crawlers(index, self._first.blocks)
        crawlers = self._crawlers
        return crawlers.by_tokens.get(tokens) or crawlers.select(tokens, self._edition)

    def find(self, url: str | bytes, selection: CompiledSelection) -> int:
        """The deciding precedence key of the groups that a crawler follows."""
        blocks = selection.blocks
        if len(blocks) == 1:
            return self._find_in(blocks[0], url)
        return min([self._find_in(block, url) for block in blocks])

    def _find_in(self, block: Block, url: str | bytes) -> int:
        if block.compiled is not None:
            return block.compiled.find(url)
        if block.url is None:
            key = self._find_uncompiled(block.spans, url)
            if key is not None:
                block.url, block.key = url, key
                return key
        elif block.url == url:  # as many crawlers ask about one page
            return block.key
        rules = rules_in(self._body, block.spans, self._edition)
        block.compiled = RuleSet(rules, self._edition)
        return block.compiled.find(url)

    def _find_uncompiled(self, spans: Spans, url: str | bytes) -> int | None:
        path = path_of(url, self._edition)
        if path == ROBOTS_TXT and self._edition.robots_txt_allowed:
            return ITSELF
        return find_uncompiled(self._body, spans, path, self._edition)

    def _select_first(self, tokens: Tokens) -> CompiledSelection:
        edition = self._edition
        index = index_agents(self._body, edition, (*beginnings(tokens, edition), *OTHER_BEGINNINGS))
        keys = followed_keys(index, tokens, edition)
        spans = [index[key][1] for key in keys]
        if len(keys) > 1:  # a group may name several of them
            groups = dict.fromkeys(group for some in spans for group in groups_of(some))
            spans = [list(chain.from_iterable(groups))]
        block = Block(tuple(spans[0]) if spans else ())
        return CompiledSelection(tuple([index[key][0] for key in keys]), (block,))


class _Crawlers:
    """The crawlers that asked a file, and the groups each of them follows."""

    __slots__ = ("_blocks", "_by_keys", "_index", "_numbers", "by_tokens")

    def __init__(self, index: Mapping[str, Place], first: Iterable[Block]) -> None:
        self._index = index
        self.by_tokens: dict[Tokens, CompiledSelection] = {}
        self._by_keys: dict[tuple[str, ...], CompiledSelection] = {}
        self._blocks = {block.spans: block for block in first}
        self._numbers: Mapping[Spans, int] | None = None  # until a crawler follows several groups

    def select(self, tokens: Tokens, edition: Edition) -> CompiledSelection:
        """The groups that a crawler follows which has not asked before."""
        if len(self.by_tokens) >= KEPT:
            self.by_tokens, self._by_keys = {}, {}
        keys = followed_keys(self._index, tokens, edition)
        selection = self._by_keys.get(keys)
        if selection is None:
            names = tuple([self._index[key][0] for key in keys])
            blocks = [self._block(spans) for spans in self._parts(keys)]
            selection = self._by_keys[keys] = CompiledSelection(names, blocks)
        self.by_tokens[tokens] = selection
        return selection

    def _block(self, spans: Spans) -> Block:
        return self._blocks.setdefault(spans, Block(spans))

    def _parts(self, keys: Sequence[str]) -> Iterable[Spans]:
        """The groups of some agents, together if they hold for the same agents.

        So no rule is in two blocks, however many agents share some of their groups.
        """
        places = [self._index[key][1] for key in keys]
        if not places or (len(places) == 1 and len(places[0]) == 2):  # usual
            return [tuple(places[0])] if places else [()]
        if self._numbers is None:
            self._numbers = _number_by_agents(self._index)
        together: dict[int, list[int]] = {}
        for group in dict.fromkeys(group for spans in places for group in groups_of(spans)):
            together.setdefault(self._numbers[group], []).extend(group)
        return map(tuple, together.values()) if together else [()]  # no rules


def _number_by_agents(index: Mapping[str, Place]) -> Mapping[Spans, int]:
    """A number for each group, the same if they hold for the same agents."""
    agents_of: dict[Spans, list[str]] = {}
    for key, (_, spans) in index.items():
        for group in groups_of(spans):
            agents_of.setdefault(group, []).append(key)
    numbers: dict[tuple[str, ...], int] = {}
    return {
        group: numbers.setdefault(tuple(agents), len(numbers))
        for group, agents in agents_of.items()
    }


# --- rules that are not compiled


def find_uncompiled(body: bytes, spans: Spans, path: str, edition: Edition) -> int | None:
    """The deciding key; None if compiling costs less."""
    size = spans[-1] - spans[0] if spans else 0
    plain = has_plain_lines(edition)
    if size > (_MAX_BYTES // len(path) if plain else _MAX_TRIED):
        return None
    if plain:
        rules = prefilter_bytes(body, spans, path.encode("ascii"), edition)
    else:
        rules = rules_in(body, spans, edition)
    if not rules:
        return NO_RULE
    cost = max(len(rules) * max(len(path), 32), sum(len(value) for _, value, _ in rules))
    return None if cost > _MAX_TRIED else _best_key(rules, path + END, edition)


def _best_key(rules: list[RawRule], path: str, edition: Edition) -> int:
    prefixes, patterns = compile_rules(rules, edition)
    keys = [key for text, key in prefixes.items() if path.startswith(text)]
    keys += [key for text, key in patterns.items() if matches_with_end(text, path, path)]
    return min(keys, default=NO_RULE)


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
    escapes = rb"(?:%(?:2[0-35-9BCF]|3A|[89A-F][0-9A-F])" + ordinary + rb"*)*"  # canonical ones
    special = re.escape(second) + rb"*$%#" + _ESCAPED
    others = rb"(?=[^/ \t\r\n#])" if slash_assumed else rb"(?=\*)"
    first = rb"(/(?![^" + special + rb"])" + ordinary + rb"*" + escapes + rb"|" + others + rb")"
    return re.compile(rb":[ \t]*" + first + rb"(?:\*+(" + ordinary + rb"+)){0,9}").finditer
