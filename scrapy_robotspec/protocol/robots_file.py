"""A robots.txt file: the groups that crawlers follow, and their rules.

The first question to a group is answered from its bytes if lines are plain; the second compiles the
rules. Crawlers that follow the same groups share rules and verdicts.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.agent_index import (
    MANY,
    Places,
    Spans,
    index_agents,
    numbers_of,
    rules_in,
)
from scrapy_robotspec.protocol.agents import Names, Tokens, asked_keys, beginnings_of, followed_keys
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS, Verdict
from scrapy_robotspec.protocol.near_rules import find_uncompiled
from scrapy_robotspec.protocol.precedence import keyed_patterns
from scrapy_robotspec.protocol.ruleset import RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import AllGroups, OtherLines
    from scrapy_robotspec.protocol.lines import RawRule

#: RFC 9309 section 2.2: emptyline, startgroupline or rule, without WS before the field, or a
#: sitemap line. Any other beginning of a line may be one of another field (EXT-03), and a policy
#: token counts as one (USE-10).
_COMMON = rb"(?:(?:user-agent|allow|disallow|sitemap)[ \t]*:(?![ \t]*__usage_)|[#\r\n]|\Z)"
_UNCOMMON = tuple(
    re.compile(begin + _COMMON + rb")", re.IGNORECASE)
    for begin in (rb"\A(?!(?:\xef\xbb\xbf)?", rb"\n(?!", rb"\r(?!")  # literals are found faster
)
#: Fields and policy tokens that few files contain.
_WORDS = ("crawl-delay", "content-usage", "content-signal", "license", *POLICY_TOKENS)
#: Max crawlers that a file remembers.
KEPT = 256


@dataclass(slots=True, eq=False)
class GroupRules:
    """The rules of some groups, for all crawlers that follow them."""

    _body: bytes
    spans: Spans
    edition: Edition
    _starts: Sequence[int] | None
    """Where the lines of all rules begin; None if lines are plain."""
    compiled: RuleSet | None = None
    """None until the second question."""
    _url: str | bytes | None = None
    """The URL of the first question."""
    _key: int = 0
    """Its answer."""

    def find(self, url: str | bytes) -> int:
        """The deciding precedence key for a URL."""
        if self.compiled is None:
            if self._url is None and self._starts is None:
                key = find_uncompiled(self._body, self.spans, url, self.edition)
                if key is not None:
                    self._url, self._key = url, key
                    return key
            elif self._url == url:  # as many crawlers ask about one page
                return self._key
            self.compile(self.rules)
        return self.compiled.find(url)  # type: ignore[union-attr]

    def compile(self, rules: Sequence[RawRule]) -> None:
        """Compile its *rules*, before many questions."""
        if self.compiled is None:
            self.compiled = RuleSet(keyed_patterns(rules, self.edition), self.edition)

    @property
    def rules(self) -> list[RawRule]:
        """The rules in file order."""
        if self._starts is None:
            return rules_in(self._body, self.spans)
        from scrapy_robotspec.protocol.groups import rules_among  # few files

        return rules_among(self._body, self._starts, self.spans, self.edition)


@dataclass(slots=True, eq=False)
class Selection:
    """Some groups of a file, which one crawler follows, or many."""

    keys: Names
    """Keys of the groups; ``("*",)`` for the default, ``()`` for none."""
    names: Names
    """The same as first written."""
    rules: GroupRules
    verdicts: dict[int, Verdict] | None = None
    """Cache of the verdicts, by precedence key; None until one is asked for in words."""


class Index:
    """The agents that a file names, and their rules."""

    def __init__(self, file: RobotsFile, beginnings: tuple[bytes, ...] = ()) -> None:
        """With *beginnings*, those of :func:`beginnings_of`, other agents may be left out."""
        self._body, self.edition = file.body, file.edition
        is_complete = True
        found = index_agents(file.body, file.edition, beginnings)
        self._starts: Sequence[int] | None = None
        if found is not None:
            places, spans, is_complete = found
        else:
            every = file.read_groups()
            places, spans = every.places, [group.span for group in every.groups]
            rules = [line.start for group in every.groups for line in group.rules]
            self._starts = array("I", rules)
        #: Whether every crawler follows the same groups, as far as is known.
        self.is_for_all = is_complete and places.keys() <= {DEFAULT}
        self.places: Places = places
        self._spans: Spans = tuple(spans)
        if len(spans) >= MANY or len(places) >= MANY:
            from scrapy_robotspec.protocol.packed import PackedPlaces, PackedSpans  # few files

            self.places, self._spans = PackedPlaces(places), PackedSpans(spans)
        self._by_tokens: dict[Tokens, Selection] = {}
        self._by_keys: dict[Names, Selection] = {}
        self._by_spans: dict[Spans, GroupRules] = {}
        if file.selection is not None:
            self._by_keys[file.selection.keys] = file.selection
            self._by_spans[file.selection.rules.spans] = file.selection.rules

    def follow(self, tokens: Tokens) -> Selection:
        """As :meth:`RobotsFile.follow`."""
        selection = self._by_tokens.get(tokens)
        if selection is None:
            if len(self._by_tokens) >= KEPT:
                self._by_tokens, self._by_keys, self._by_spans = {}, {}, {}
            keys = followed_keys(self.places, asked_keys(tokens, self.edition), self.edition)
            selection = self._by_keys.get(keys)
            if selection is None:
                names = tuple([self.places[key][0] for key in keys])
                names = keys if names == keys else names  # usual, and saves memory
                selection = self._by_keys[keys] = Selection(keys, names, self.rules_of(keys))
            self._by_tokens[tokens] = selection
        return selection

    def rules_of(self, keys: Sequence[str]) -> GroupRules:
        """The rules of the groups that some keys are in."""
        numbers = numbers_of(self.places, keys)
        spans = type(self._spans)([self._spans[number] for number in numbers])  # packed, or not
        rules = self._by_spans.get(spans)
        if rules is None:
            rules = GroupRules(self._body, spans, self.edition, self._starts)
            self._by_spans[spans] = rules
        return rules


class RobotsFile:
    """The groups of a file, by the crawlers that follow them."""

    __slots__ = ("_index", "_others", "_words", "body", "edition", "selection", "tokens")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self.body = body
        self.edition = edition
        #: The crawler that asked last; most files are asked for one.
        self.tokens: Tokens | None = None
        #: Its groups.
        self.selection: Selection | None = None
        self._others: OtherLines | None = None  # until they are asked for
        #: None until the second crawler; False if no group names one, so that none is needed.
        self._index: Index | Literal[False] | None = None
        self._words: frozenset[str] | None = None  # until they are asked for

    @property
    def index(self) -> Index:
        """All agents that the file names."""
        if not self._index:
            self._index = Index(self)
        return self._index

    def read_groups(self) -> AllGroups:
        """Read every line. Other lines alone are kept of the groups."""
        from scrapy_robotspec.protocol.groups import AllGroups, OtherLines  # few crawls need them

        every = AllGroups(self.body, self.edition)
        self._others = self._others or OtherLines(every)
        return every

    @property
    def others(self) -> OtherLines:
        """The lines with other fields."""
        if self._others is None:
            self.read_groups()
            assert self._others is not None
        return self._others

    @property
    def words(self) -> frozenset[str]:
        """Fields and policy tokens that the file contains, in any case."""
        if self._words is None:
            lowered = self.body.lower()
            self._words = frozenset([word for word in _WORDS if word.encode() in lowered])
        return self._words

    @property
    def may_have_others(self) -> bool:
        """False only if no line has another field (EXT-03)."""
        return any(uncommon.search(self.body) for uncommon in _UNCOMMON)

    def follow(self, tokens: Tokens) -> Selection:
        """The groups that a crawler follows.

        Raises as :func:`~scrapy_robotspec.protocol.agents.asked_keys` does.
        """
        selection = self.selection
        if selection is not None and self._index is False:
            asked_keys(tokens, self.edition)  # only to raise
        elif selection is None or self.tokens != tokens:
            if selection is None and self._index is None:
                index = Index(self, beginnings_of(tokens, self.edition))
                if index.is_for_all:
                    self._index = False
            else:
                index = self.index
            selection = self.selection = index.follow(tokens)
        self.tokens = tokens
        return selection
