"""The answers about one document in one edition, computed when asked for."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.bulk.crawlers import follow
from scrapy_robotspec.bulk.group_rules import SITE
from scrapy_robotspec.bulk.questions import ROOT
from scrapy_robotspec.protocol.agent_index import has_plain_lines, index_agents
from scrapy_robotspec.protocol.file_kind import meant_kind
from scrapy_robotspec.protocol.groups import read_groups, read_sitemaps
from scrapy_robotspec.protocol.lines import numbers_at, text_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, resolve_dots
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, forbids, line_start
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, greatest_delay
from scrapy_robotspec.protocol.usage_rules import may_state_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.bulk.crawlers import Combination, Crawlers
    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.questions import Questions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Spans
    from scrapy_robotspec.protocol.groups import RawGroup

#: Max length of the text of a line in the output (characters): each row and path repeats it.
MAX_TEXT = 2000
_LINE_END = re.compile(rb"[\r\n]").search


class PathAnswer(NamedTuple):
    """The verdict about a path."""

    allowed: bool | None
    """None: no rules were read, and the response decides nothing."""
    reason: str
    line: int | None = None
    """Number, from 1, of the line that decides."""
    rule: str | None = None
    """This line as written."""


class Findings(NamedTuple):
    """Numbers of the linter's findings."""

    errors: int | None = None
    warnings: int | None = None
    advice: int | None = None


#: The verdict about ``/robots.txt`` (PRE-04).
_ITSELF = PathAnswer(True, "robots_txt_itself")


class FileAnswers:
    """The answers about a document in one edition."""

    def __init__(
        self, document: Document, edition: Edition, crawlers: Crawlers, questions: Questions
    ) -> None:
        self.document = document
        self.edition = edition
        self.questions = questions
        self.outcome = document.outcome(edition)
        self.content: Content | None = None  # where the response decides, not a file
        self.groups: Sequence[GroupAnswers | UnreadAnswers]
        #: For each crawler the index of its groups.
        self.places: array[int]
        if self.outcome == "successful":
            robots = RobotsTxt.parse(document.body or b"", edition)
            self.content = content = Content(robots, crawlers, questions.paths)
            combinations, self.places = crawlers.assign(content.agents)
            self.groups = [GroupAnswers(content, each) for each in combinations]
        else:
            self.groups = [UnreadAnswers(self)]
            self.places = array("i", [0]) * len(questions.tokens)

    @property
    def redirects(self) -> list[str] | None:
        """The URL that a redirect leads to."""
        target = self.document.target
        return None if target is None else [target]

    @property
    def bytes(self) -> int | None:
        """The length of the body."""
        return None if self.document.body is None else len(self.document.body)

    @property
    def sha256(self) -> str | None:
        """The hash of the body."""
        return None if self.document.body is None else sha256(self.document.body).hexdigest()

    @property
    def truncated(self) -> bool | None:
        """Whether the file is longer than the edition reads."""
        return None if self.content is None else self.content.robots.truncated

    @property
    def sitemaps(self) -> Sequence[str] | None:
        """The absolute URLs of the sitemap lines (SIT-01)."""
        return None if self.content is None else self.content.sitemaps

    @cached_property
    def findings(self) -> Findings:
        """The numbers of the linter's findings, if they are asked for."""
        if self.content is None or not self.questions.lint:
            return Findings()
        found = Counter(finding.severity for finding in self.content.robots.lint())
        return Findings(found["error"], found["warning"], found["advice"])


class Content:
    """The contents of a file."""

    def __init__(self, robots: RobotsTxt, crawlers: Crawlers, paths: Sequence[str]) -> None:
        self.robots = robots
        self.paths = paths
        self._lowered = robots.body.lower()
        self.known_rules = crawlers.known_rules
        self.agents = index_agents(robots.body, robots.edition, crawlers.beginnings, self._lowered)
        self._rules: dict[tuple[bool, Spans], SpanAnswers] = {}

    @property
    def sitemaps(self) -> Sequence[str]:
        """The absolute URLs of the sitemap lines (SIT-01)."""
        return read_sitemaps(self.robots.body, self.robots.edition, self._lowered)

    def select(self, combination: Combination) -> tuple[tuple[str, ...], SpanAnswers]:
        """The names of some groups, and the answers of their rules."""
        names, spans = follow(self.agents, combination.keys)
        place = (bool(names), spans)
        if place not in self._rules:
            self._rules[place] = SpanAnswers(self, spans, combination.asked, bool(names))
        return names, self._rules[place]

    def delay(self, keys: Sequence[str]) -> float | None:
        """The crawl delay of the groups with some keys, in seconds (EXT-01)."""
        edition, wanted = self.robots.edition, set(keys)
        return greatest_delay(
            line
            for group, named in self._groups_with_others
            if named & wanted
            for line in group.others_for(wanted, edition)
        )

    def usage(self, asked: Sequence[str]) -> Sequence[tuple[str, str]]:
        """The usage preferences that are stated for a crawler and ``/``."""
        if not self._states_usage:
            return ()
        return sorted(self.robots.usage_rules(asked).find(ROOT).preferences.items())

    @cached_property
    def states_delay(self) -> bool:
        """False only if no line has a crawl delay."""
        return b"crawl-delay" in self._lowered

    @cached_property
    def _states_usage(self) -> bool:
        return b"content-" in self._lowered and may_state_usage(self.robots.body)

    @cached_property
    def is_foreign(self) -> bool:
        """Whether this is not meant as a robots.txt file."""
        return meant_kind(self.robots.body) is not None

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """The numbers of the deciding lines, by offset."""
        starts = {start for rules in self._rules.values() for start in rules.starts}
        return numbers_at(self.robots.body, starts)

    @cached_property
    def _groups_with_others(self) -> Sequence[tuple[RawGroup, set[str]]]:
        body, edition = self.robots.body, self.robots.edition
        if has_plain_lines(edition):  # nothing behind the last one changes for whom it holds
            last = _LINE_END(body, self._lowered.rfind(b"crawl-delay"))
            body = body[: last.end()] if last else body
        groups = read_groups(body, edition)
        return [(group, group.keys(edition)) for group in groups if group.others]


class SpanAnswers:
    """Answers of the rules in some spans, which groups may share."""

    def __init__(
        self, content: Content, spans: Spans, asked: Sequence[str], has_group: bool
    ) -> None:
        self._content = content
        self._asked = asked
        self._without_rule = "no_rule" if has_group else "no_group"
        self._begin, self._rules = content.known_rules.find(content.robots.body, spans)
        root = self._rules.root
        self._keys = (root, *self._rules.find_all(content.paths)) if content.paths else (root,)
        #: Whether ``/`` is allowed.
        self.allowed = not forbids(root)
        self._root: PathAnswer | None = None
        self._paths: Sequence[tuple[Any, ...]] | None = None if content.paths else ()

    @property
    def starts(self) -> Iterable[int]:
        """The offsets of the deciding lines."""
        keys = [key for key in self._keys if key not in (NO_RULE, ITSELF)]
        return [self._begin + line_start(key) for key in keys]

    @property
    def extent(self) -> str:
        """How much of the site is open."""
        extent = self._rules.extent
        if extent == "allows all" and self._rules.is_empty and self._content.is_foreign:
            return "unreadable"
        return extent

    @property
    def root(self) -> PathAnswer:
        """The verdict about ``/``."""
        if self._root is None:
            self._root = self._answer(self._keys[0])
        return self._root

    @property
    def paths(self) -> Sequence[tuple[Any, ...]]:
        """The verdicts about the other paths."""
        if self._paths is None:
            self._paths = [
                (path, *self._served(path, self._answer(key)))
                for path, key in zip(self._content.paths, self._keys[1:], strict=True)
            ]
        return self._paths

    def _answer(self, key: int) -> PathAnswer:
        if key == ITSELF:
            return _ITSELF
        if key == NO_RULE:
            return PathAnswer(True, self._without_rule)
        start = self._begin + line_start(key)
        text = decode(text_at(self._content.robots.body, start))[:MAX_TEXT]
        return PathAnswer(not forbids(key), "rule", self._content.numbers[start], text)

    def _served(self, path: str, answer: PathAnswer) -> PathAnswer:
        """The verdict, if allowed, with that about the path as servers resolve it (PAT-15)."""
        if not answer.allowed or resolve_dots(path) == path:
            return answer
        verdict = self._content.robots.explain_served(SITE + path, self._asked)
        if verdict.rule is None:
            return answer
        return PathAnswer(verdict.allowed, "rule", verdict.rule.line, verdict.rule.text[:MAX_TEXT])


class GroupAnswers:
    """The answers for the crawlers that follow the same groups."""

    def __init__(self, content: Content, combination: Combination) -> None:
        self._content = content
        self._combination = combination
        self.names, self.rules = content.select(combination)

    @property
    def delay(self) -> float | None:
        """The crawl delay in seconds."""
        if not self._content.states_delay:
            return None
        return self._content.delay(self._combination.keys)

    @property
    def usage(self) -> Sequence[tuple[str, str]] | None:
        """The usage preferences for ``/``, if that is allowed (USE-03)."""
        return self._content.usage(self._combination.asked) if self.rules.allowed else None


class UnreadAnswers:
    """The answers for all crawlers where no rule was read."""

    names = delay = usage = None

    def __init__(self, file: FileAnswers) -> None:
        self.rules = self
        failed = file.document.error is not None and file.outcome == "unreachable"
        self.extent = "unreadable" if failed else "no file"
        self.allowed = None if file.outcome == "redirect" else file.outcome == "unavailable"
        self.root = PathAnswer(self.allowed, file.outcome)
        own = _ITSELF if file.edition.robots_txt_allowed else self.root
        self.paths = [
            (path, *(own if path == ROBOTS_TXT else self.root)) for path in file.questions.paths
        ]


#: Where each column of a file is found.
FILE_VALUES = {
    **{name: f"document.{name}" for name in ("origin", "url", "source", "status", "error")},
    **{name: name for name in ("outcome", "redirects", "bytes", "sha256", "truncated", "sitemaps")},
    "edition": "edition.name",
    **{f"lint_{name}": f"findings.{name}" for name in ("errors", "warnings", "advice")},
}
#: Where each column of the groups that a crawler follows is found.
GROUP_VALUES = {
    "group": "names",
    "class": "rules.extent",
    "allowed": "rules.allowed",
    **{name: f"rules.root.{name}" for name in ("reason", "line", "rule")},
    "paths": "rules.paths",
    "crawl_delay": "delay",
    "usage": "usage",
}
