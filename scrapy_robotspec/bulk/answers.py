"""The answers about one response, each computed when it is asked for."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.protocol.extent import SITE, Extent, Rules
from scrapy_robotspec.protocol.file_kind import foreign_kind
from scrapy_robotspec.protocol.paths import ROBOTS_TXT
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.questions import Crawlers, Questions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import RawRule

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


#: Max groups that are remembered, and max rules of each: thousands of files share a few.
_KNOWN = 4096
_MAX_KNOWN = 100
#: Rules that are tried first: mostly, one of them makes an exception.
_FEW = 8
#: Bytes of a value that may match ``/``.
_WIDE = b"/*$"
#: The verdict about ``/robots.txt`` (PRE-04).
_ITSELF = Answer(True, "robots_txt_itself")


class FindingCounts(NamedTuple):
    """The numbers of findings of each severity."""

    error: int | None = None
    warning: int | None = None
    advice: int | None = None


class FileAnswers:
    """A response as an edition reads it."""

    def __init__(self, document: Document, edition: Edition, questions: Questions) -> None:
        self.document = document
        self.edition = edition
        self.questions = questions
        self.outcome = document.outcome(edition)
        self.robots: RobotsTxt | None = None  # where the response decides, not its body
        if self.outcome == "successful":
            self.robots = RobotsTxt.parse(document.body or b"", edition)

    def groups_of(
        self, crawlers: Crawlers
    ) -> tuple[Sequence[GroupAnswers | Unread], Sequence[int]]:
        """The groups that crawlers follow, and the index of each crawler's own."""
        robots = self.robots
        if robots is None:
            return [Unread(self)], [0] * len(crawlers.names)
        named = crawlers.named_by(robots.file)  # first: one index for all
        groups = [GroupAnswers(self, robots, crawlers.usual)]
        numbers = {groups[0].names: 0}
        places = [0] * len(crawlers.names)
        for at in named:
            group = GroupAnswers(self, robots, crawlers.names[at].asked)
            if group.names not in numbers:
                numbers[group.names] = len(groups)
                groups.append(group)
            places[at] = numbers[group.names]
        return groups, places

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
    def findings(self) -> FindingCounts:
        """The numbers of the linter's findings, if they are asked for."""
        if self.robots is None or not self.questions.lint:
            return FindingCounts()
        found = Counter(finding.severity for finding in self.robots.lint())
        return FindingCounts(found["error"], found["warning"], found["advice"])


class GroupAnswers:
    """Statements of a file for the crawlers that follow the same groups."""

    def __init__(self, file: FileAnswers, robots: RobotsTxt, asked: tuple[str, ...]) -> None:
        self._file = file
        self._robots = robots
        self._asked = asked
        followed = robots.file.follow(asked)
        self.names = followed.names
        """The names of the groups as first written."""
        self._rules = followed.rules

    @cached_property
    def root(self) -> Answer:
        """The verdict about ``/``."""
        return self._answer("/")

    @property
    def paths(self) -> Sequence[tuple[Any, ...]]:
        """The verdicts about the other paths."""
        return [(path, *self._answer(path)) for path in self._file.questions.paths]

    def _answer(self, path: str) -> Answer:
        verdict = self._robots.explain_served(SITE + path, self._asked)  # PAT-15
        if verdict.rule is None:
            return Answer(verdict.allowed, verdict.reason)
        return Answer(verdict.allowed, "rule", verdict.rule.line, verdict.rule.text[:MAX_TEXT])

    @property
    def extent(self) -> str:
        """How much of the site is open."""
        extent = extent_of(self._rules.rules, self._file.edition)
        if extent == "no rules":
            return "unreadable" if foreign_kind(self._robots.body) is not None else "allows all"
        return extent

    @property
    def delay(self) -> float | None:
        """The crawl delay in seconds (EXT-01)."""
        return self._robots.crawl_delay(self._asked)

    @property
    def usage(self) -> Sequence[tuple[str, str]] | None:
        """The usage preferences for ``/``, if that is allowed (USE-03)."""
        if not self.root.allowed:
            return None
        return sorted(self._robots.usage_rules(self._asked).find("/").preferences.items())


class Unread:
    """The answers for all crawlers where no rule was read."""

    names = delay = usage = None

    def __init__(self, file: FileAnswers) -> None:
        outcome = file.outcome
        failed = file.document.error is not None and outcome in ("unreachable", "revisit")
        self.extent = "unreadable" if failed else "no file"
        self.root = Answer(
            None if outcome in ("redirect", "revisit") else outcome == "unavailable", outcome
        )
        own = _ITSELF if file.edition.robots_txt_allowed else self.root
        self.paths = [
            (path, *(own if path == ROBOTS_TXT else self.root)) for path in file.questions.paths
        ]


# --- the class of rules


def extent_of(rules: Sequence[RawRule], edition: Edition) -> Extent:
    """How much of a site some rules leave open."""
    known = tuple((allow, value, 0) for allow, value, _ in rules)  # wherever they stand
    return (_extent_once if len(known) <= _MAX_KNOWN else _extent)(known, edition)


def _extent(rules: tuple[RawRule, ...], edition: Edition) -> Extent:
    # All that may allow a page or decide about the root is among them: if that is allowed and
    # they forbid a page, all rules do.
    few = [rule for rule in rules[_FEW:] if rule[0] or not rule[1].strip(_WIDE)]
    found = Rules([*rules[:_FEW], *few], edition)
    if found.extent == "some" and not forbids(found.root):
        return "some"
    return Rules(rules, edition).extent


_extent_once = lru_cache(_KNOWN)(_extent)
