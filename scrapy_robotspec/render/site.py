"""A site's robots.txt, and how it was obtained."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.account import meaning_of
from scrapy_robotspec.access.reasons import ANSWERS, OTHER_STATUS, REASONS, failure_words
from scrapy_robotspec.render.text import count, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: A label and a text that is not escaped yet.
Fact = tuple[str, str]


class SiteAnswer(NamedTuple):
    """The decision about a URL, with its record and rules."""

    url: str
    seconds: float
    """Time until the decision was made."""
    now: float
    """Time of the decision (epoch seconds)."""
    problem: str | None = None
    """Why nothing was decided; ``decision`` is None then."""
    decision: Decision | None = None
    record: RobotsRecord | None = None
    """Stored state of the origin; None where robots.txt was not needed."""
    robots: RobotsTxt | None = None
    """The rules that apply; None where no file decides."""
    tokens: tuple[str, ...] = ()
    edition: Edition | None = None
    fetched: bool = False
    """Whether robots.txt was fetched for this decision instead of read from a store."""

    @property
    def origin(self) -> Origin | None:
        """The origin whose robots.txt governs the URL."""
        return self.decision.origin if self.decision is not None else None


def why(site: SiteAnswer, line: str = "") -> str:
    """The reason of a decision in a few words, escaped.

    *line*: the deciding line as the view shows it.
    """
    if site.decision is None:
        return safe(str(site.problem))
    return site.decision.cause(line)


def site_facts(site: SiteAnswer) -> Iterator[Fact]:
    """Origin, redirects, status, meaning, age and size of a site's robots.txt."""
    if site.origin is not None:
        yield "origin", str(site.origin)
        yield "robots.txt", site.origin.robots_url
    if site.record is not None:
        yield from _record_facts(site, site.record)


def _record_facts(site: SiteAnswer, record: RobotsRecord) -> Iterator[Fact]:
    from scrapy_robotspec.access.outcome import NO_FILE  # no file needs it

    for hop in record.hops:
        target = f" to {hop.target}" if hop.target is not None else ""
        yield "redirect", f"{hop.status} from {hop.url}{target}"
    if record.unreachable_since is not None and record.has_failed:
        yield "failure", failure_words(record.failure)
        since = utc(record.unreachable_since)
        age = duration(max(0.0, site.now - record.unreachable_since))
        yield "since", f"{since} ({age} ago, {count(record.failures, 'failure')})"
        yield "meaning", ANSWERS["unreachable"].sentence
    if record.meaning is None or record.fetched_at is None or record.lifetime is None:
        return
    error = f", {record.redirect_error}" if record.redirect_error else ""
    yield "status", f"{record.status}{error}"
    meaning = ANSWERS[meaning_of(record)].sentence
    if record.meaning == "allow" and record.status not in NO_FILE:
        meaning = REASONS[OTHER_STATUS].short.format(status=record.status, failed=error)
    yield "meaning", meaning
    if record.meaning == "rules" and record.doubt_in_words is not None:
        yield "doubt", record.doubt_in_words
    source = "fetched just now" if site.fetched else "from the cache"
    age = duration(max(0.0, site.now - record.fetched_at))
    kept = duration(record.lifetime)
    why_so_short = "" if record.doubt is None else " because it is in doubt"
    yield "age", f"{age} ({source}), kept for {kept}{why_so_short}"
    if record.meaning == "rules":
        cut = ", cut at the size limit" if record.truncated else ""
        yield "size", f"{count(len(record.body), 'byte')}{cut}"


def utc(seconds: float) -> str:
    """Epoch seconds as date and time in UTC."""
    from datetime import datetime, timezone

    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S UTC}"
