"""``audit --robots``: which crawlers of an access log keep to one robots.txt."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, is_url, open_sources
from scrapy_robotspec.cli.session import MisuseError, SiteOptions
from scrapy_robotspec.evidence.visitors import Visitor, VisitorAudit
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import columns, first_of, safe
from scrapy_robotspec.render.visitors_page import (
    SHOWN,
    broken_rules,
    delay_words,
    fetch_words,
    visitors_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.cli.access_log import AccessLog
    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session

#: The origin of requests without a host (RFC 2606).
ANY_SITE = "https://site.invalid"
#: Max origins that are named, and max origins and characters of each that are kept.
_MOST = 3
_MAX_ORIGINS = 1000
_MAX_SHOWN = 100


class _Sites:
    """The site that is judged, and requests for others."""

    def __init__(self, log: str, origin: Origin | None) -> None:
        """*origin*: the only one to judge; None: the log must be of one."""
        self._log = log
        self._is_given = origin is not None
        self.own = origin
        self.others: dict[str, int] = {}

    def has(self, url: str) -> bool:
        """Whether *url* is one of the site; others are counted. Raises :class:`MisuseError`."""
        found = Origin.of(url)
        if found == ANY_SITE:
            return True
        if found is not None and self.own is None:
            self.own = found
        if found is not None and found == self.own:
            return True
        name = str(found or url[:_MAX_SHOWN])
        if not self._is_given:
            raise MisuseError(
                f"{self._log} has requests for several sites, such as {self.own} and {name}: say "
                "with --origin whose robots.txt that is"
            )
        name = name if name in self.others or len(self.others) < _MAX_ORIGINS else "others"
        self.others[name] = self.others.get(name, 0) + 1
        return False

    def names(self) -> str:
        """The first other sites."""
        return first_of([safe(each) for each in self.others], _MOST)


def audit_visitors(
    session: Session,
    log: AccessLog,
    robots: str,
    origin: Origin | None,
    crawlers: CrawlerOptions,
    output: Output,
) -> int:
    """Judge every request of *log* by the file *robots*.

    Returns the exit code. Raises :class:`MisuseError`.
    """
    if log.name == robots == STANDARD_INPUT:
        raise MisuseError("standard input (-) can be read for one thing only")
    output.check((log.name, robots))
    screen = session.screen
    (source,) = open_sources([robots], session, SiteOptions(), single=True)
    file = source.parse(session.edition(None), screen)
    only = crawlers.crawler(file.edition, ()) or ()
    audit = VisitorAudit(file, only)
    sites = _Sites(log.name, origin or (Origin.of(robots) if is_url(robots) else None))
    for request, url in log.requests():
        if sites.has(url):
            audit.add(request, url)
    if audit.requests and not log.agents and not only:
        raise MisuseError(
            f"{log.name} has no User-Agents: log them (Combined log format), or give --token for a "
            "log of one crawler"
        )
    if sites.others and not audit.requests:
        raise MisuseError(
            f"no request is for {sites.own}: the log has {sites.names()}; give --origin"
        )
    notes = list(log.notes())
    elsewhere = sum(sites.others.values())
    if elsewhere:
        notes.append(f"not judged, as not for {sites.own}: {elsewhere:,} ({sites.names()})")
    noted = [each for each in audit.ranked() if each.disallowed and each.note]
    notes += [f"{safe(each.name)} {each.note}" for each in noted]
    for note in notes:
        screen.note(f"note: {note}")
    if not output.is_page_only:
        if output.as_json:
            counts = {"not_read": log.not_read, "without_url": log.without_url}
            screen.say_json([_object(audit, sites.own, {"other_origins": elsewhere, **counts})])
        else:
            screen.say(*_lines(audit))
    if output.html is not None:
        page = visitors_page(
            audit,
            ParsedFile(file, source.name),
            now=time(),
            base=ANY_SITE,
            log=log.name,
            name=source.name,
            site=sites.own or "the log names none",
            notes=notes,
        )
        output.write_page(session, page)
    return 1 if audit.disallowed else 0


def _lines(audit: VisitorAudit) -> Iterator[str]:
    ranked = audit.ranked()
    rows: list[tuple[str, ...]] = [
        ("crawler", "requests", "robots.txt", "disallowed", "group", "crawl delay")
    ]
    for each in ranked[:SHOWN]:
        group = safe(", ".join(each.group)) or "none"
        numbers = f"{each.requests:,}", fetch_words(each), f"{each.disallowed:,}"
        rows.append((safe(each.name), *numbers, group, delay_words(each)))
    if ranked:
        yield from (*columns(rows), "")
    if len(ranked) > SHOWN:
        yield f"and {len(ranked) - SHOWN:,} more crawlers"
    broken = broken_rules(ranked, ANY_SITE)
    rows = [("requests", "crawler", "line", "rule", "first URL")]
    for number, *cells in broken[:SHOWN]:
        rows.append((f"{number:,}", *(safe(str(cell or "")) for cell in cells)))
    if broken:
        yield from (*columns(rows), "")
    guilty = sum(each.disallowed > 0 for each in ranked)
    people = f"browsers: {audit.browsers:,}, without a User-Agent: {audit.without_agent:,}"
    counts = f"crawlers: {len(ranked):,}, disallowed: {audit.disallowed:,} by {guilty:,} of them"
    yield f"requests: {audit.requests:,}, {people}, {counts}"


def _object(audit: VisitorAudit, origin: Origin | None, counts: dict[str, int]) -> dict[str, Any]:
    names = ("requests", "disallowed", "browsers", "without_agent")
    return {
        "origin": origin,
        **{name: getattr(audit, name) for name in names},
        **counts,
        "crawlers": [_crawler(each) for each in audit.ranked()],
    }


_MEMBERS = (
    *("name", "tokens", "group", "note", "requests", "robots_txt", "before", "oldest_copy"),
    *("disallowed", "crawl_delay", "too_early", "shortest"),
)


def _crawler(each: Visitor) -> dict[str, Any]:
    return {
        **{name: getattr(each, name) for name in _MEMBERS},
        "rules": [
            {"line": line, "rule": rule, "requests": number, "url": url}
            for number, _, line, rule, url in broken_rules([each], ANY_SITE)
        ],
    }
