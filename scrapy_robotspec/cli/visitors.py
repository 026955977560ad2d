"""``audit --robots``: which crawlers of an access log keep to one robots.txt."""

from __future__ import annotations

from itertools import chain, islice
from time import time
from typing import TYPE_CHECKING

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli.access_log import AccessLog, rule_table
from scrapy_robotspec.cli.inputs import check_standard_input, is_url, open_sources
from scrapy_robotspec.cli.session import MisuseError, Session
from scrapy_robotspec.evidence.visitors import ANY_SITE, Visitor, VisitorAudit
from scrapy_robotspec.render.as_html import Note, listing, render
from scrapy_robotspec.render.as_json import Object, members
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import columns, count, duration, first_of, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions, Output

#: Max rows of each table, and max crawlers that are named at a line.
SHOWN = 100
_NAMED = 3
#: Servers write a line when they have answered, so times go back by some minutes (seconds).
_MAX_BACK = 1800.0
#: Max origins that are named, and max origins and characters of each that are kept.
_MOST = 3
_MAX_ORIGINS = 1000
#: First requests that show whether a log names hosts.
_FIRST = 100
_MAX_SHOWN = 100


def audit_visitors(
    session: Session,
    log: AccessLog,
    robots: str,
    origin: Origin | None,
    crawlers: CrawlerOptions,
    output: Output,
) -> int:
    """Judge every request of *log* by the file *robots*.

    Returns the exit code. *origin*: the only site to judge. Raises :class:`MisuseError`.
    """
    check_standard_input(log.name, robots)
    output.check((log.name, robots))
    screen = session.screen
    (source,) = open_sources([robots], session, single=True)
    file = source.parse(session.edition, screen)
    only = crawlers.crawler(file.edition, ()) or ()
    audit = VisitorAudit(file, only)
    only_site = origin or (Origin.of(robots) if is_url(robots) else None)
    site, elsewhere, names = _judge(log, audit, only_site)
    if audit.requests and not (log.agents or audit.visitors):
        raise MisuseError(
            f"{log.name} has no User-Agents: log them (Combined log format), or give --token for a "
            "log of one crawler, with --log-format common or json: without agent=NAME"
        )
    if elsewhere and not audit.requests:
        raise MisuseError(f"no request is for {site}: the log has {names}; give --origin")
    notes = list(log.notes())
    if elsewhere:
        why = f"not for {site}" if site else "clients may have sent their hosts; give --origin"
        notes.append(f"not judged, as {why}: {elsewhere:,} ({names})")
    if audit.back > _MAX_BACK:
        notes.append(
            f"times go back by up to {duration(audit.back)}: robots.txt and crawl delay are right "
            "only for a log in the order of its times, the oldest part first"
        )
    ranked = audit.ranked()
    notes += [f"{safe(each.name)} {each.note}" for each in ranked if each.disallowed and each.note]
    for note in notes:
        screen.note(f"note: {note}")
    if not output.is_page_only:
        if output.as_json:
            rows = list(map(_crawler, ranked))
            found: Object = {"origin": site, "crawlers": rows, "other_origins": elsewhere}
            counts = members(audit, "requests", "disallowed", "browsers", "without_agent")
            screen.say_json([{**found, **log.counts, **counts}])
        else:
            screen.say(*_lines(audit, ranked))
    if output.html is not None:
        parsed = ParsedFile(file, source.name)
        page = render(
            "visitors.html",
            now=time(),
            audit=audit,
            ranked=ranked,
            broken=broken_rules(ranked),
            file=parsed,
            rows=listing(parsed, [each.tokens for each in ranked[:SHOWN]], _notes(ranked)),
            most=SHOWN,
            fetch_words=fetch_words,
            delay_words=delay_words,
            log=log.name,
            name=source.name,
            site=site or "the log names none",
            notes=[log.damage, *notes] if log.damage else notes,
        )
        output.write_page(screen, page)
    return 1 if audit.disallowed else 0


def _judge(
    log: AccessLog, audit: VisitorAudit, site: Origin | None
) -> tuple[Origin | None, int, str]:
    """Judge the requests for *site*; None: for the only one that the log names.

    Most of the first requests show whether it names any: clients may send whole URLs.

    Returns the site, and the number of other requests and their first origins.
    """
    requests, elsewhere = log.requests(site or ANY_SITE), 0
    others: dict[str, None] = {}
    first = list(islice(requests, _FIRST))
    named = sum(not url.startswith(f"{ANY_SITE}/") for _, url in first)
    is_given = site is not None or 2 * named < len(first)
    for request, url in chain(first, requests):
        found = Origin.of(url)
        if not is_given and site is None and found != ANY_SITE:
            site = found
        if found is not None and found in (site, ANY_SITE):
            audit.add(request, url)
        elif is_given or found is None:
            elsewhere += 1
            if len(others) < _MAX_ORIGINS:
                others.setdefault(safe(found or url, _MAX_SHOWN))
        else:
            raise MisuseError(
                f"{log.name} has requests for several sites, such as {site} and {found}: say with "
                "--origin whose robots.txt that is"
            )
    return site, elsewhere, first_of(list(others), _MOST)


def _lines(audit: VisitorAudit, ranked: Sequence[Visitor]) -> Iterator[str]:
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
    yield from rule_table("crawler", broken_rules(ranked)[:SHOWN])
    guilty = sum(each.disallowed > 0 for each in ranked)
    people = f"browsers: {audit.browsers:,}, without a User-Agent: {audit.without_agent:,}"
    counts = f"crawlers: {len(ranked):,}, disallowed: {audit.disallowed:,} by {guilty:,} of them"
    yield f"requests: {audit.requests:,}, {people}, {counts}"


def _crawler(each: Visitor) -> Object:
    return {
        **members(each, "name", "tokens", "group", "note", "requests", "robots_txt", "before"),
        **members(each, "oldest_copy", "disallowed", "crawl_delay", "too_early", "shortest"),
        "rules": [
            {"line": line, "rule": rule, "requests": number, "url": url}
            for number, _, line, rule, url in broken_rules([each])
        ],
    }


# --- parts of text and page


def fetch_words(visitor: Visitor) -> str:
    """Number of requests for robots.txt, and longest use of a copy."""
    if not visitor.robots_txt:
        return "never"
    age = f", used up to {duration(visitor.oldest_copy)}" if visitor.oldest_copy else ""
    late = f", {count(visitor.before, 'request')} before" if visitor.before else ""
    return f"{visitor.robots_txt:,}{age}{late}"


def delay_words(visitor: Visitor) -> str:
    """Whether a crawler kept its crawl delay; empty without one."""
    if visitor.crawl_delay is None:
        return ""
    gap = "" if visitor.shortest is None else f", shortest {duration(visitor.shortest)}"
    kept = f"{visitor.too_early:,} too early" if visitor.too_early else "kept"
    return f"{duration(visitor.crawl_delay)}: {kept}{gap}"


def broken_rules(ranked: Iterable[Visitor]) -> list[tuple[int, str, int, str, str]]:
    """Requests, crawler, line, rule and first URL, as the tables show them."""
    return [
        (number, each.name, rule.line, rule.text.strip(), url)
        for each in ranked
        for rule, (number, url) in sorted(each.broken.items(), key=lambda pair: -pair[1][0])
    ]


def _notes(ranked: Sequence[Visitor]) -> Iterator[Note]:
    by_line: dict[int, list[Visitor]] = {}
    for each in ranked:
        for rule in each.broken:
            by_line.setdefault(rule.line, []).append(each)
    for line, visitors in by_line.items():
        yield line, f"broken by {first_of([each.name for each in visitors], _NAMED)}", "bad"
