"""One file in one edition, asked about many crawlers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.other_lines import OtherLines
from scrapy_robotspec.protocol.fast.compiled import follow
from scrapy_robotspec.protocol.fast.index import index_agents
from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.lines import numbers_at, text_at
from scrapy_robotspec.protocol.lint.file_kind import kind_code
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, forbids, line_start
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, greatest_delay, without_rule
from scrapy_robotspec.protocol.usage_rules import UsageRules, may_state_usage, usage_lines

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.bulk.crawlers import Followed
    from scrapy_robotspec.bulk.rule_answers import Answered, RuleAnswers
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Place, Spans
    from scrapy_robotspec.protocol.groups import RawOther

    #: Names of groups, as first written.
    Names = tuple[str, ...]


class PathAnswer(NamedTuple):
    """The verdict about a path."""

    allowed: bool | None
    """None: no rules were read, and the response decides nothing."""
    reason: str
    line: int | None = None
    """Number, from 1, of the line that decides."""
    rule: str | None = None
    """This line as written."""


class GroupAnswer(NamedTuple):
    """The answers about the groups that some crawlers follow."""

    extent: str
    """What the groups leave open, or ``"unreadable"``."""
    paths: Sequence[PathAnswer]
    """For each path that was asked about, ``/`` first."""
    crawl_delay: float | None
    usage: Sequence[tuple[str, str]] | None
    """Usage preferences of ``/`` by label; None where disallowed (USE-03)."""


class FileRules:
    """The rules of a file, by the groups followed.

    Crawlers that follow the same groups share the answers.
    """

    def __init__(self, body: bytes, edition: Edition, answers: RuleAnswers) -> None:
        self.robots = RobotsTxt.parse(body, edition)
        self._body = self.robots.body
        self._edition = edition
        self._answers = answers
        lowered = self._body.lower()
        self.agents: Mapping[str, Place] = index_agents(self._body, edition, lowered=lowered)
        self.sitemaps = read_sitemaps(self._body, edition, lowered)
        self._has_delay = edition.other_fields and b"crawl-delay" in lowered
        self._has_usage = b"content-" in lowered and may_state_usage(self._body)
        self._others = OtherLines(self._body, edition, lowered)

    def answers(self, followed: Iterable[Followed]) -> Iterator[tuple[Names, GroupAnswer]]:
        """The names of each combination of groups, and the answer."""
        groups = [(keys, *_follow(self.agents, keys)) for keys in followed]
        found: dict[Spans, Answered] = {}
        for _, _, spans in groups:
            if spans not in found:
                found[spans] = self._answers.find(self._body, spans)
        keys = {key for answered in found.values() for key in answered.keys}
        numbers = numbers_at(self._body, map(line_start, keys - {NO_RULE, ITSELF}))
        kept: dict[Hashable, GroupAnswer] = {}
        for asked, names, spans in groups:
            lines = self._others.find(asked, spans) if self._has_delay or self._has_usage else ()
            same = (spans, bool(names), *(line.start for line in lines))
            if same not in kept:
                paths = [self._path_answer(key, names, numbers) for key in found[spans].keys]
                kept[same] = self._answer(found[spans], paths, lines)
            yield names, kept[same]

    def _answer(
        self, found: Answered, paths: Sequence[PathAnswer], lines: Sequence[RawOther]
    ) -> GroupAnswer:
        extent = found.extent if found.has_rules else self._extent_without_rules
        delay = greatest_delay(lines) if self._has_delay else None  # EXT-01
        usage = self._usage(lines) if paths[0].allowed else None
        return GroupAnswer(extent, paths, delay, usage)

    def _path_answer(self, key: int, names: Names, numbers: Mapping[int, int]) -> PathAnswer:
        if key in (NO_RULE, ITSELF):
            verdict = without_rule(names, self._edition.name)[key]
            return PathAnswer(verdict.allowed, verdict.reason)
        start = line_start(key)
        return PathAnswer(
            not forbids(key), "rule", numbers[start], decode(text_at(self._body, start))
        )

    @cached_property
    def _extent_without_rules(self) -> str:
        return "allows all" if kind_code(self._body) is None else "unreadable"

    def _usage(self, others: Sequence[RawOther]) -> list[tuple[str, str]]:
        if not self._has_usage:
            return []
        lines = usage_lines(self._body, others, self._edition)
        return sorted(UsageRules(lines, self._edition).find("/").preferences.items())


def _follow(agents: Mapping[str, Place], keys: Followed) -> tuple[Names, Spans]:
    return follow(agents, keys) if keys else ((), ())
