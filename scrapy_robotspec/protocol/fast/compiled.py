"""A compiled file: groups followed, and their rules.

The first questions to a group are answered from its bytes (``uncompiled.py``), since many origins
of a broad crawl are asked about few pages. Later ones compile its rules. The second crawler has the
user-agent lines indexed; crawlers that follow the same groups share their rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agent_index import OTHER_BEGINNINGS, index_agents, rules_in
from scrapy_robotspec.protocol.agents import beginnings, followed_keys
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.uncompiled import find_uncompiled
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import ITSELF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place, Spans
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.models import Verdict

#: Max crawlers that a file remembers, and max bytes of the groups they follow (times its length).
#: Crawlers may follow combinations of the same groups in any number.
KEPT = 4096
KEPT_RULES = 8
#: Questions that are answered without compiling the rules; together they cost less than that.
#: With several crawlers it is one, as more questions are expected.
COMPILE_AFTER = 5
#: Max URLs whose keys a group remembers.
KEPT_URLS = 5

_NO_KEYS: Mapping[str | bytes, int] = {}
_NO_VERDICTS: Mapping[int, Verdict] = {}


class SharedRules:
    """The shared rules of one combination of groups."""

    __slots__ = ("asked", "compiled", "keys", "parts", "spans")

    def __init__(self, spans: Spans, parts: tuple[SharedRules, ...] = ()) -> None:
        self.spans = spans
        self.parts = parts  # instead of spans, where several groups are combined
        self.asked = 0
        self.compiled: RuleSet | None = None  # until there have been enough questions
        self.keys = _NO_KEYS  # by the first URLs, from the second crawler on


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

    __slots__ = ("_asked_first", "_body", "_crawlers", "_edition", "_first")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self._body = body
        self._edition = edition
        self._first: CompiledSelection | None = None
        self._asked_first: tuple[str | bytes, int] = (b"", 0)  # the first URL and its key
        self._crawlers: _Crawlers | None = None  # from the second crawler on

    def find(self, url: str | bytes, tokens: Tokens) -> tuple[int, CompiledSelection]:
        """The deciding precedence key, and the groups."""
        crawlers = self._crawlers
        if crawlers is None:
            if self._first is None:
                first = self._select_first(tokens)
                self._asked_first = url, self.find_again(url, first.rules)
                self._first = first
                return self._asked_first[1], first
            self._first.rules.keys = dict([self._asked_first])
            index = index_agents(self._body, self._edition)
            self._crawlers = crawlers = _Crawlers(index, self._first.rules, len(self._body))
        selection = crawlers.by_tokens.get(tokens) or crawlers.select(tokens, self._edition)
        rules = selection.rules
        key = rules.keys.get(url)
        if key is None:
            key = self.find_again(url, rules)
            if len(rules.keys) < KEPT_URLS:
                rules.keys = {**rules.keys, url: key}
        return key, selection

    def find_all(self, urls: Sequence[str], spans: Spans) -> list[int]:
        """The deciding precedence keys of the rules in some spans."""
        rules = SharedRules(spans)
        return [self.find_again(url, rules) for url in urls]

    def find_again(self, url: str | bytes, rules: SharedRules) -> int:
        """The deciding precedence key of some rules."""
        if rules.parts:  # compiled once for all combinations
            return min(self.find_again(url, part) for part in rules.parts)
        edition = self._edition
        few = COMPILE_AFTER if self._crawlers is None else 1
        if rules.compiled is None and rules.asked < few:
            rules.asked += 1
            path = path_of(url, edition)
            own = path == ROBOTS_TXT and edition.robots_txt_allowed
            key = ITSELF if own else find_uncompiled(self._body, rules.spans, path, edition)
            if key is not None:
                return key
        if rules.compiled is None:
            rules.compiled = RuleSet(rules_in(self._body, rules.spans, edition), edition)
        return rules.compiled.find(url)

    def _select_first(self, tokens: Tokens) -> CompiledSelection:
        wanted = (*beginnings(tokens, self._edition), *OTHER_BEGINNINGS)
        index = index_agents(self._body, self._edition, wanted)
        return select(index, followed_keys(index, tokens, self._edition), SharedRules)


class _Crawlers:
    """The crawlers that asked a file, and the groups each of them follows."""

    __slots__ = ("_by_keys", "_by_spans", "_index", "_room", "_size", "by_tokens")

    def __init__(self, index: Mapping[str, Place], first: SharedRules, size: int) -> None:
        self._index = index
        self.by_tokens: dict[Tokens, CompiledSelection] = {}
        self._by_keys: dict[tuple[str, ...], CompiledSelection] = {}
        self._by_spans = {part.spans: part for part in first.parts or (first,)}
        self._room = KEPT_RULES * size
        self._size = 0  # bytes of the groups followed

    def select(self, tokens: Tokens, edition: Edition) -> CompiledSelection:
        """The groups that a crawler follows which has not asked before."""
        if len(self.by_tokens) >= KEPT or self._size > self._room:
            self.by_tokens, self._by_keys, self._by_spans, self._size = {}, {}, {}, 0
        keys = followed_keys(self._index, tokens, edition)
        selection = self._by_keys.get(keys)
        if selection is None:
            selection = self._by_keys[keys] = select(self._index, keys, self._share)
        self.by_tokens[tokens] = selection
        return selection

    def _share(self, spans: Spans) -> SharedRules:
        rules = self._by_spans.get(spans)
        if rules is None:
            rules = self._by_spans[spans] = SharedRules(spans)
            self._size += sum(spans[1::2]) - sum(spans[::2])
        return rules


def select(
    index: Mapping[str, Place], keys: Sequence[str], share: Callable[[Spans], SharedRules]
) -> CompiledSelection:
    """The groups with some keys."""
    parts = [share(tuple(index[key][1])) for key in keys]
    rules = parts[0] if len(parts) == 1 else SharedRules((), tuple(parts))
    return CompiledSelection(tuple([index[key][0] for key in keys]), rules)
