"""A compiled file: groups followed, and their rules.

The first questions to a group are answered from its bytes (``uncompiled.py``), since many origins
of a broad crawl are asked about few pages. Later ones compile its rules. Crawlers that follow the
same groups share their rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import followed_keys
from scrapy_robotspec.protocol.fast.index import index_agents, rules_in
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.uncompiled import find_uncompiled
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import ITSELF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Place, Spans
    from scrapy_robotspec.protocol.models import Verdict

#: Max crawlers that a file remembers.
KEPT = 4096
#: Questions that are answered without compiling the rules; together they cost less than that.
COMPILE_AFTER = 5
#: The agents of a file are kept after the first question if it has this many bytes for each.
_BYTES_FOR_AGENT = 48

Tokens = tuple[str, ...]

_NO_VERDICTS: Mapping[int, Verdict] = {}


class SharedRules:
    """The shared rules of one combination of groups."""

    __slots__ = ("asked", "compiled", "keys", "spans")

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self.asked = 0
        self.compiled: RuleSet | None = None  # until there have been enough questions
        self.keys: dict[str | bytes, int] = {}  # of URLs matched without compiling


class CompiledSelection:
    """The groups that some crawler follows in a file."""

    __slots__ = ("names", "rules", "verdicts")

    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    rules: SharedRules
    verdicts: Mapping[int, Verdict]
    """Cache of the verdicts, by precedence key."""

    def __init__(self, names: tuple[str, ...], rules: SharedRules) -> None:
        self.names = names
        self.rules = rules
        self.verdicts = _NO_VERDICTS


class CompiledFile:
    """Matches (URL, tokens) against a file's rules."""

    __slots__ = ("_body", "_crawlers", "_edition", "_first", "_index")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self._body = body
        self._edition = edition
        self._index: Mapping[str, Place] | None = None  # for the second crawler, if small
        self._first: CompiledSelection | None = None
        self._crawlers: _Crawlers | None = None  # from the second crawler on

    def find(self, url: str | bytes, tokens: Tokens) -> tuple[int, CompiledSelection]:
        """The deciding precedence key, and the groups."""
        crawlers = self._crawlers
        if crawlers is not None:
            selection = crawlers.by_tokens.get(tokens) or crawlers.select(tokens, self._edition)
        elif self._first is None:
            selection = self._first = self._select_first(tokens)
        else:
            index = self._index or index_agents(self._body, self._edition)
            self._crawlers = _Crawlers(index, self._first)
            self._index = None
            selection = self._crawlers.select(tokens, self._edition)
        key = selection.rules.keys.get(url)
        return self.find_again(url, selection) if key is None else key, selection

    def find_again(self, url: str | bytes, selection: CompiledSelection) -> int:
        """The same for the crawler that asked last."""
        rules, edition = selection.rules, self._edition
        if rules.compiled is None and rules.asked < COMPILE_AFTER:
            rules.asked += 1
            path = path_of(url, edition)
            own = path == ROBOTS_TXT and edition.robots_txt_allowed
            key = ITSELF if own else find_uncompiled(self._body, rules.spans, path, edition)
            if key is not None:
                rules.keys[url] = key
                return key
        if rules.compiled is None:
            rules.compiled = RuleSet(rules_in(self._body, rules.spans, edition), edition)
        return rules.compiled.find(url)

    def _select_first(self, tokens: Tokens) -> CompiledSelection:
        index = index_agents(self._body, self._edition)
        if len(index) * _BYTES_FOR_AGENT <= len(self._body):
            self._index = index
        names, spans = follow(index, followed_keys(index, tokens, self._edition))
        return CompiledSelection(names, SharedRules(spans))


class _Crawlers:
    """The crawlers that asked a file, and the groups each of them follows."""

    __slots__ = ("_by_keys", "_by_spans", "_index", "by_tokens")

    def __init__(self, index: Mapping[str, Place], first: CompiledSelection) -> None:
        self._index = index
        self.by_tokens: dict[Tokens, CompiledSelection] = {}
        self._by_keys: dict[tuple[str, ...], CompiledSelection] = {}
        self._by_spans: dict[Spans, SharedRules] = {first.rules.spans: first.rules}

    def select(self, tokens: Tokens, edition: Edition) -> CompiledSelection:
        """The groups that a crawler follows which has not asked before."""
        keys = followed_keys(self._index, tokens, edition)
        selection = self._by_keys.get(keys)
        if selection is None:
            names, spans = follow(self._index, keys)
            rules = self._by_spans.setdefault(spans, SharedRules(spans))
            selection = self._by_keys[keys] = CompiledSelection(names, rules)
        if len(self.by_tokens) >= KEPT:
            self.by_tokens.clear()
        self.by_tokens[tokens] = selection
        return selection


def follow(index: Mapping[str, Place], keys: Sequence[str]) -> tuple[tuple[str, ...], Spans]:
    """Names and spans of the groups with some keys."""
    if len(keys) == 1:
        name, *spans = index[keys[0]]
        return (name,), tuple(spans)
    places = [index[key] for key in keys]
    parts = [part for _, *spans in places for part in zip(spans[::2], spans[1::2], strict=True)]
    joined: list[int] = []
    for begin, end in sorted(parts):
        if joined and begin < joined[-1]:  # a group of several of these agents
            joined[-1] = max(joined[-1], end)
        else:
            joined += begin, end
    return tuple(name for name, *_ in places), tuple(joined)
