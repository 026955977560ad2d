"""A file made ready for many questions: the groups each crawler follows, and their rules.

The first question to a group is answered from its bytes (``uncompiled.py``), since many origins of
a broad crawl are asked about one page only. The second question compiles its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.index import Columns, has_plain_lines, rules_in, scan
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.uncompiled import (
    match_uncompiled,
    prefilter_bytes,
    prefilter_rules,
)
from scrapy_robotspec.protocol.groups import select_groups
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import ITSELF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Spans
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.models import Verdict

#: Max selections kept for one file; few crawlers ask with more tokens.
KEPT = 8

Tokens = tuple[str, ...]

_NO_VERDICTS: Mapping[int, Verdict] = {}


class CompiledSelection:
    """The groups that one crawler follows in a file."""

    __slots__ = ("asked", "names", "rules", "spans", "verdicts")

    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    rules: RuleSet | None
    """The rules of the groups; None before the second question."""
    verdicts: Mapping[int, Verdict]
    """Cache of the verdicts, by precedence key."""

    def __init__(self, names: tuple[str, ...], spans: Spans) -> None:
        self.names = names
        self.spans = spans
        self.asked = False
        self.rules = None
        self.verdicts = _NO_VERDICTS


class CompiledFile:
    """Matches (URL, tokens) against a file's rules."""

    __slots__ = ("_body", "_edition", "_selections")

    def __init__(self, body: bytes, edition: Edition) -> None:
        self._body = body
        self._edition = edition
        self._selections: dict[Tokens, CompiledSelection] = {}  # the oldest first

    def find(self, url: str | bytes, tokens: Tokens) -> tuple[int, CompiledSelection]:
        """The precedence key of what decides about a URL, and the groups it was found in."""
        read: Sequence[RawRule] | None = None
        selection = self._selections.get(tokens)
        if selection is None:
            selection, read = self._select(tokens)
            self._keep(tokens, selection)
        if selection.rules is None:
            if not selection.asked:
                selection.asked = True
                key = self._find_uncompiled(url, selection.spans, read)
                if key is not None:
                    return key, selection
            rules = self._read(tokens, selection) if read is None else Columns.of(read)
            selection.rules = RuleSet(rules, self._edition)
            selection.spans = ()
        return selection.rules.find(url), selection

    def _select(self, tokens: Tokens) -> tuple[CompiledSelection, Sequence[RawRule] | None]:
        """The groups that a crawler follows, and their rules if those had to be read."""
        if has_plain_lines(self._edition):
            names, spans = scan(self._body, tokens, self._edition)
            return CompiledSelection(names, spans), None
        selected = select_groups(self._body, tokens, self._edition)
        return CompiledSelection(selected.names, ()), selected.rules

    def _keep(self, tokens: Tokens, selection: CompiledSelection) -> None:
        if len(self._selections) >= KEPT:
            del self._selections[next(iter(self._selections))]
        self._selections[tokens] = selection

    def _find_uncompiled(
        self, url: str | bytes, spans: Spans, rules: Sequence[RawRule] | None
    ) -> int | None:
        """The key of what decides; None if compiling the rules costs less."""
        path = path_of(url, self._edition)
        if path == ROBOTS_TXT and self._edition.robots_txt_allowed:
            return ITSELF
        if rules is None:
            rules = prefilter_bytes(self._body, spans, path.encode("ascii"), self._edition)
        else:
            rules = prefilter_rules(rules, path, self._edition)
        return None if rules is None else match_uncompiled(rules, path, self._edition)

    def _read(self, tokens: Tokens, selection: CompiledSelection) -> Columns:
        if has_plain_lines(self._edition):
            return rules_in(self._body, selection.spans)
        return Columns.of(select_groups(self._body, tokens, self._edition).rules)
