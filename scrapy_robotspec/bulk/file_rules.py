"""One file in one edition, asked about many crawlers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.other_lines import OtherLines
from scrapy_robotspec.bulk.spans import follow
from scrapy_robotspec.protocol.agent_index import index_agents
from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.lines import numbers_at
from scrapy_robotspec.protocol.lint.file_kind import kind_of
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, forbids
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, greatest_delay
from scrapy_robotspec.protocol.usage_rules import UsageRules, may_state_usage, usage_lines

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.bulk.columns import Row
    from scrapy_robotspec.bulk.crawlers import Followed
    from scrapy_robotspec.bulk.rule_answers import Answered, RuleAnswers
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place, Spans
    from scrapy_robotspec.protocol.groups import RawOther


class PathAnswer(NamedTuple):
    """The verdict about a path."""

    allowed: bool | None
    """None: no rules were read, and the response decides nothing."""
    reason: str
    line: int | None = None
    """Number, from 1, of the line that decides."""
    rule: str | None = None
    """This line as written."""


#: The verdict about ``/robots.txt`` (PRE-04).
ROBOTS_TXT_ITSELF = PathAnswer(True, "robots_txt_itself")
#: The verdicts that no rule gives, by key: where a crawler follows no group, and where it does.
_NO_GROUP = {NO_RULE: PathAnswer(True, "no_group"), ITSELF: ROBOTS_TXT_ITSELF}
_NO_RULE = {NO_RULE: PathAnswer(True, "no_rule"), ITSELF: ROBOTS_TXT_ITSELF}


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

    def rows(self, followed: Iterable[Followed], paths: Sequence[str]) -> Iterator[Row]:
        """For each combination of groups the values of ``columns.OF_GROUP``."""
        groups = [(keys, *follow(self.agents, keys)) for keys in followed]
        found: dict[Spans, tuple[int, Answered]] = {}
        for _, _, spans in groups:
            if spans not in found:
                found[spans] = self._answers.find(self._body, spans)
        numbers = numbers_at(
            self._body,
            {
                begin + line.start
                for begin, answered in found.values()
                for line in answered.lines
                if line is not None
            },
        )
        kept: dict[Hashable, Row] = {}
        for asked, names, spans in groups:
            lines = self._others.find(asked, spans) if self._has_delay or self._has_usage else ()
            same = (spans, bool(names), *[line.start for line in lines])
            if same not in kept:
                begin, answered = found[spans]
                verdicts = _verdicts(begin, answered, numbers, _NO_RULE if names else _NO_GROUP)
                kept[same] = self._row(answered, verdicts, paths, lines)
            yield names, *kept[same]

    def _row(
        self,
        answered: Answered,
        verdicts: Sequence[PathAnswer],
        paths: Sequence[str],
        lines: Sequence[RawOther],
    ) -> Row:
        """The values after the names of the groups."""
        root, *others = verdicts
        return (
            answered.extent if answered.has_rules else self._extent_without_rules,
            *root,
            [(path, *each) for path, each in zip(paths, others, strict=True)] if paths else (),
            greatest_delay(lines) if self._has_delay else None,  # EXT-01
            self._usage(lines) if root.allowed else None,  # USE-03
        )

    @cached_property
    def _extent_without_rules(self) -> str:
        return "allows all" if kind_of(self._body) is None else "unreadable"

    def _usage(self, others: Sequence[RawOther]) -> list[tuple[str, str]]:
        if not self._has_usage:
            return []
        lines = usage_lines(self._body, others, self._edition)
        return sorted(UsageRules(lines, self._edition).find("/").preferences.items())


def _verdicts(
    begin: int,
    answered: Answered,
    numbers: Mapping[int, int],
    without_rule: Mapping[int, PathAnswer],
) -> list[PathAnswer]:
    return [
        without_rule[key]
        if line is None
        else PathAnswer(not forbids(key), "rule", numbers[begin + line.start], line.text)
        for key, line in zip(answered.keys, answered.lines, strict=True)
    ]
