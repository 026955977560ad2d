"""The answers about one response, each computed when it is asked for."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.bulk.questions import SITE
from scrapy_robotspec.bulk.rules import rules_of
from scrapy_robotspec.protocol.agent_index import groups_of, index_agents
from scrapy_robotspec.protocol.file_kind import meant_kind
from scrapy_robotspec.protocol.groups import read_groups
from scrapy_robotspec.protocol.lines import line_ends, text_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import ROBOTS_TXT
from scrapy_robotspec.protocol.precedence import NO_RULE, forbids, line_start
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, greatest_delay
from scrapy_robotspec.protocol.usage_rules import may_state_usage

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.questions import Crawlers, Follower, Questions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place
    from scrapy_robotspec.protocol.groups import RawGroup

    #: Begin and end of groups in the file.
    _Parts = tuple[tuple[int, int], ...]

#: Max length of the text of a line in the output (characters): each row and path repeats it.
MAX_TEXT = 2000


class Answer(NamedTuple):
    """The verdict about a path."""

    allowed: bool | None
    """None: no rules were read, and the response decides nothing."""
    reason: str
    line: int | None = None
    """Number, from 1, of the line that decides."""
    rule: str | None = None
    """This line as written."""


#: The verdict about ``/robots.txt`` (PRE-04).
_ITSELF = Answer(True, "robots_txt_itself")


class Findings(NamedTuple):
    """The numbers of findings of each severity."""

    error: int | None = None
    warning: int | None = None
    advice: int | None = None


class File:
    """A response as an edition reads it."""

    def __init__(self, document: Document, edition: Edition, questions: Questions) -> None:
        self.document = document
        self.edition = edition
        self.questions = questions
        self.outcome = document.outcome(edition)
        self._rules: dict[tuple[_Parts, bool], Rules] = {}
        self.robots: RobotsTxt | None = None  # where the response decides, not its body
        if self.outcome == "successful":
            self.robots = RobotsTxt.parse(document.body or b"", edition)

    def groups_of(
        self, crawlers: Crawlers, first: int
    ) -> tuple[Sequence[Group | Unread], array[int]]:
        """The groups that crawlers follow.

        The second value is, for each crawler, *first* + the index of its own.
        """
        robots = self.robots
        if robots is None:
            return [Unread(self)], crawlers.all_at(first)
        index = index_agents(robots.body, self.edition, crawlers.beginnings)
        followers, places = crawlers.assign(index, first)
        return [Group(self, robots, index, each) for each in followers], places

    def rules_at(self, parts: _Parts, robots: RobotsTxt, follower: Follower) -> Rules:
        """The rules in some parts of the file, which groups may share."""
        place = (parts, bool(follower[0]))
        if place not in self._rules:
            self._rules[place] = Rules(self, robots, parts, follower)
        return self._rules[place]

    @property
    def redirects(self) -> list[str] | None:
        """The URL that the response redirects to."""
        target = self.document.target
        return None if target is None else [target]

    @property
    def size(self) -> int | None:
        """Length of the body (bytes)."""
        return None if self.document.body is None else len(self.document.body)

    @property
    def sha256(self) -> str | None:
        """Hash of the body."""
        return None if self.document.body is None else sha256(self.document.body).hexdigest()

    @property
    def truncated(self) -> bool | None:
        """Whether the file is longer than the edition reads."""
        return None if self.robots is None else self.robots.truncated

    @property
    def sitemaps(self) -> Sequence[str] | None:
        """The absolute URLs of the sitemap lines."""
        return None if self.robots is None else self.robots.sitemaps

    @cached_property
    def findings(self) -> Findings:
        """The numbers of the linter's findings, if they are asked for."""
        if self.robots is None or not self.questions.lint:
            return Findings()
        found = Counter(finding.severity for finding in self.robots.lint())
        return Findings(found["error"], found["warning"], found["advice"])

    @cached_property
    def is_foreign(self) -> bool:
        """Whether this is not meant as a robots.txt file."""
        return self.robots is not None and meant_kind(self.robots.body) is not None

    @cached_property
    def states_usage(self) -> bool:
        """Whether there may be usage preferences."""
        return self.robots is not None and may_state_usage(self.robots.body)

    @cached_property
    def groups_with_delays(self) -> Sequence[tuple[RawGroup, set[str]]]:
        """The groups with other lines, and their keys.

        Empty if no line has a crawl delay.
        """
        assert self.robots is not None
        if b"crawl-delay" not in self.robots.body.lower():
            return ()
        groups = read_groups(self.robots.body, self.edition)
        return [(group, group.keys(self.edition)) for group in groups if group.others]


class Rules:
    """Verdicts of the rules in some parts of a file."""

    def __init__(self, file: File, robots: RobotsTxt, parts: _Parts, follower: Follower) -> None:
        self._file = file
        self._robots = robots
        self._parts = parts
        keys, self._asked = follower
        self._without_rule = Answer(True, "no_rule" if keys else "no_group")
        text = b"\n".join([robots.body[begin:end] for begin, end in parts])
        self._rules = rules_of(text, file.edition)

    @property
    def allowed(self) -> bool:
        """Whether ``/`` is allowed."""
        return not forbids(self._rules.root)

    @cached_property
    def root(self) -> Answer:
        """The verdict about ``/``."""
        return self._answer(self._rules.root)

    @cached_property
    def paths(self) -> Sequence[tuple[Any, ...]]:
        """The verdicts about the other paths."""
        return [(path, *self._answer_for(path)) for path in self._file.questions.paths]

    @property
    def extent(self) -> str:
        """How much of the site is open."""
        extent = self._rules.extent
        if extent == "no rules":
            return "unreadable" if self._file.is_foreign else "allows all"
        return extent

    def _answer_for(self, path: str) -> Answer:
        verdict = self._robots.explain_served(SITE + path, self._asked)  # PAT-15
        if verdict.rule is None:
            return Answer(verdict.allowed, verdict.reason)
        return Answer(verdict.allowed, "rule", verdict.rule.line, verdict.rule.text[:MAX_TEXT])

    def _answer(self, key: int) -> Answer:
        if key == NO_RULE:
            return self._without_rule
        body, at = self._robots.body, line_start(key)
        for begin, end in self._parts:
            if at < end - begin:
                break
            at -= end - begin + 1
        text = decode(text_at(body, begin + at))[:MAX_TEXT]
        return Answer(not forbids(key), "rule", line_ends(body, 0, begin + at) + 1, text)


class Group:
    """Statements of a file for the crawlers that follow the same groups."""

    def __init__(
        self, file: File, robots: RobotsTxt, index: Mapping[str, Place], follower: Follower
    ) -> None:
        self._file = file
        self._robots = robots
        self._keys, self._asked = follower
        found = [index[key] for key in self._keys]
        self.names = tuple([name for name, _ in found])
        parts = {part for _, spans in found for part in groups_of(spans)}
        self.rules = file.rules_at(tuple(sorted(parts)), robots, follower)

    @property
    def delay(self) -> float | None:
        """The crawl delay in seconds (EXT-01)."""
        wanted = set(self._keys)
        return greatest_delay(
            line
            for group, keys in self._file.groups_with_delays
            if keys & wanted
            for line in group.others_for(wanted, self._file.edition)
        )

    @property
    def usage(self) -> Sequence[tuple[str, str]] | None:
        """The usage preferences for ``/``, if that is allowed (USE-03)."""
        if not self.rules.allowed:
            return None
        if not self._file.states_usage:
            return ()
        return sorted(self._robots.usage_rules(self._asked).find("/").preferences.items())


class Unread:
    """The answers for all crawlers where no rule was read."""

    names = delay = usage = None

    def __init__(self, file: File) -> None:
        outcome = file.outcome
        failed = file.document.error is not None and outcome == "unreachable"
        self.extent = "unreadable" if failed else "no file"
        self.allowed = None if outcome == "redirect" else outcome == "unavailable"
        self.root = Answer(self.allowed, outcome)
        self.rules = self
        own = _ITSELF if file.edition.robots_txt_allowed else self.root
        self.paths = [
            (path, *(own if path == ROBOTS_TXT else self.root)) for path in file.questions.paths
        ]
