"""A robots.txt file: the groups that crawlers follow, and their rules.

The first question to a group is answered from its bytes if lines are plain; the second compiles the
rules. Crawlers that follow the same groups share rules and verdicts.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agent_index import groups_of, index_agents, rules_in
from scrapy_robotspec.protocol.agents import followed_keys
from scrapy_robotspec.protocol.near_rules import find_uncompiled
from scrapy_robotspec.protocol.ruleset import RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import AgentIndex, Spans
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.models import Verdict

#: Max crawlers that a file remembers.
KEPT = 256


class GroupRules:
    """The rules of some groups, for all crawlers that follow them."""

    __slots__ = ("_body", "_edition", "_key", "_read", "_url", "compiled", "spans")

    spans: Spans
    compiled: RuleSet | None
    """None until the second question."""

    def __init__(
        self, body: bytes, spans: Spans, edition: Edition, read: Sequence[RawRule] | None
    ) -> None:
        self._body = body
        self._edition = edition
        self._read = read  # None: the lines are plain
        self.spans = spans
        self.compiled = None
        self._url: str | bytes | None = None  # the first question
        self._key = 0  # its answer

    def find(self, url: str | bytes) -> int:
        """The deciding precedence key for a URL."""
        if self.compiled is not None:
            return self.compiled.find(url)
        body, spans, edition = self._body, self.spans, self._edition
        if self._read is None:
            if self._url is None:
                key = find_uncompiled(body, spans, url, edition)
                if key is not None:
                    self._url, self._key = url, key
                    return key
            elif self._url == url:  # as many crawlers ask about one page
                return self._key
            self._read = rules_in(body, spans, edition)
        self.compiled = RuleSet(self._read, edition)
        self._read = ()
        return self.compiled.find(url)


class Selection:
    """Some groups of a file, which one crawler follows, or many."""

    __slots__ = ("names", "rules", "verdicts")

    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    rules: GroupRules
    verdicts: dict[int, Verdict]
    """Cache of the verdicts, by precedence key."""

    def __init__(self, names: tuple[str, ...], rules: GroupRules) -> None:
        self.names = names
        self.rules = rules
        self.verdicts = {}


class RobotsFile:
    """The groups of a file, by the crawlers that follow them."""

    __slots__ = ("_body", "_by_keys", "_by_spans", "_edition", "_selections", "index")

    index: AgentIndex

    def __init__(self, body: bytes, edition: Edition, beginnings: tuple[bytes, ...] = ()) -> None:
        """With *beginnings*, it may be asked for the crawlers they belong to alone."""
        self._body = body
        self._edition = edition
        self.index = index_agents(body, edition, beginnings)
        self._selections: dict[Tokens, Selection] = {}
        self._by_keys: dict[tuple[str, ...], Selection] = {}
        self._by_spans: dict[Spans, GroupRules] = {}

    def follow(self, tokens: Tokens) -> Selection:
        """The groups that a crawler follows.

        Raises as :func:`~scrapy_robotspec.protocol.agents.asked_keys` does.
        """
        selection = self._selections.get(tokens)
        if selection is None:
            keys = followed_keys(self.index.places, tokens, self._edition)
            if len(self._selections) >= KEPT:
                self._selections, self._by_keys, self._by_spans = {}, {}, {}
            selection = self._by_keys.get(keys)
            if selection is None:
                selection = self._by_keys[keys] = self._with_keys(keys)
            self._selections[tokens] = selection
        return selection

    def _with_keys(self, keys: Sequence[str]) -> Selection:
        index = self.index
        spans = tuple(index.places[keys[0]][1]) if keys else ()
        if len(keys) > 1:  # a group may name several of them
            groups = {group for key in keys for group in groups_of(index.places[key][1])}
            spans = tuple(chain.from_iterable(sorted(groups)))
        rules = self._by_spans.get(spans)
        if rules is None:
            read = index.read(spans)
            rules = self._by_spans[spans] = GroupRules(self._body, spans, self._edition, read)
        return Selection(tuple([index.places[key][0] for key in keys]), rules)
