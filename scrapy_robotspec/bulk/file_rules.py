"""One file in one edition, asked about many crawlers."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.compiled import CompiledSelection, SharedRules, follow
from scrapy_robotspec.protocol.fast.index import index_agents
from scrapy_robotspec.protocol.groups import read_groups
from scrapy_robotspec.protocol.lint.file_kind import kind_code
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, greatest_delay
from scrapy_robotspec.protocol.usage_rules import (
    UsageRules,
    may_state_usage,
    usage_edition,
    usage_lines,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.bulk.crawlers import Followed
    from scrapy_robotspec.bulk.rule_answers import Answered, RuleAnswers
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Place, Spans
    from scrapy_robotspec.protocol.groups import RawGroup, RawOther
    from scrapy_robotspec.protocol.models import Verdict

#: Rules on the lines after a rule: they change nothing about where a group ends.
_SECOND_RULES = re.compile(
    rb"((?:\A|[\r\n])[ \t]*(?:dis)?allow[ \t]*:[^\r\n]*)"
    rb"(?:(?:\r\n|\r|\n)[ \t]*(?:dis)?allow[ \t]*:[^\r\n]*)+",
    re.IGNORECASE,
).sub


class FileRules:
    """The rules of a file, by the groups followed.

    Agents named above the same rules share the answers.
    """

    def __init__(self, body: bytes, edition: Edition, answers: RuleAnswers) -> None:
        self.robots = RobotsTxt.parse(body, edition)
        self._body = self.robots.body
        self._edition = edition
        self._answers = answers
        self.agents: Mapping[str, Place] = index_agents(self._body, edition)
        self._by_spans: dict[Spans, Answered] = {}
        self._has_delay = edition.other_fields and b"crawl-delay" in self._body.lower()
        self._has_usage = may_state_usage(self._body)

    def answer(self, followed: Followed) -> tuple[list[Verdict], str]:
        """The verdicts for the paths, and the class of the groups."""
        names, spans = follow(self.agents, followed) if followed else ((), ())
        found = self._by_spans.get(spans)
        if found is None:
            found = self._by_spans[spans] = self._answers.find(self._body, spans)
        selection = CompiledSelection(names, SharedRules(spans))
        kind = self._kind_without_rules if not found.has_rules else found.extent
        return [self.robots.verdict_of(selection, key) for key in found.keys], kind

    @cached_property
    def _kind_without_rules(self) -> str:
        return "allows all" if kind_code(self._body) is None else "unreadable"

    def crawl_delay(self, followed: Followed) -> float | None:
        """The greatest crawl delay of the groups followed, in seconds (EXT-01)."""
        return greatest_delay(self._others(followed)) if self._has_delay else None

    def usage(self, followed: Followed, verdict: Verdict) -> list[tuple[str, str]] | None:
        """Usage preferences of ``/`` by label; None where disallowed (USE-03)."""
        if not verdict.allowed:
            return None
        if not self._has_usage:
            return []
        lines = usage_lines(self._body, self._others(followed), self._edition)
        return sorted(UsageRules(lines, self._edition).find("/").preferences.items())

    def _others(self, followed: Followed) -> list[RawOther]:
        """The other lines that hold for the groups with some keys, in file order.

        Their offsets are not those in the file.
        """
        wanted = set(followed)
        places = {at for key in wanted for at in self._with_others.get(key, ())}
        return [
            line
            for at in sorted(places)
            for line in self._groups[at].others_for(wanted, self._edition)
        ]

    @cached_property
    def _groups(self) -> list[RawGroup]:
        body = _SECOND_RULES(rb"\1", self._body)
        return read_groups(body, usage_edition(self._edition))

    @cached_property
    def _with_others(self) -> Mapping[str, Sequence[int]]:
        """The groups with other lines, by the keys of their agents."""
        found: dict[str, list[int]] = {}
        for at, group in enumerate(self._groups):
            for key in group.keys(self._edition) if group.others else ():
                found.setdefault(key, []).append(at)
        return found
