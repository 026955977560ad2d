"""The report of a crawl as a page without scripts or network.

It answers in this order: the outcomes of all requests, what to do, the settings in force, what
refused, which sites did not answer or answered late, and what the files of a small crawl contain.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.account import EXEMPT, OUTCOMES, Group, RequestCounts
from scrapy_robotspec.access.reasons import NO_ANSWER, OUTCOME_WORDS, end_in_words
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.as_html import listing
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count, duration, first_of, group_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.render.crawl_report import CrawlFacts, OriginStats, RefusalStats

    #: A setting in force: label, value, further text.
    Fact = tuple[str, str, str]

#: Max URLs or sites that are named in a row.
MAX_NAMED = 10
#: The files of a crawl with at most this number of sites are shown.
MAX_FILES = 3


class Link(NamedTuple):
    """A URL or a site, with a link to its robots.txt."""

    to: str
    label: str
    text: str


class Entry(NamedTuple):
    """Requests of one site; those with the same *head* share a row."""

    head: str
    requests: int
    site: str
    links: Sequence[Link]
    wait: float | None = None
    """Seconds."""
    is_code: bool = False


class Row(NamedTuple):
    """A row of a table."""

    numbers: Sequence[str]
    head: str
    is_code: bool
    links: Sequence[Link]


class Table(NamedTuple):
    """A table. Its columns are numbers, a head and links."""

    title: str
    requests: int
    sites: int
    columns: Sequence[str]
    rows: Sequence[Row]


class File(NamedTuple):
    """The robots.txt of one site."""

    site: str
    summary: str
    group: str
    rows: Sequence[object]


def report_page(
    origins: Sequence[OriginStats],
    facts: CrawlFacts,
    *,
    now: float,
    finished: str | None,
    waiting: int = 0,
    is_cut: bool = False,
    differences: Mapping[str, int] | None = None,
) -> str:
    """The page of a crawl, of bounded size.

    The crawl may go on counting: each value that may become None again is read once. *now*: epoch
    seconds. *finished*: why the crawl has ended; None: it has not. *waiting*: requests that wait
    now. *is_cut*: only totals contain some sites, rules or URLs. *differences*: requests of a dry
    run, by how our decision compares with Scrapy's.
    """
    total = RequestCounts()
    for origin in origins:
        total.include(origin.requests)
    sites = [origin for origin in origins if origin.origin]
    tables = dict(_tables(sites, facts, now))
    files = list(_files(sites, facts)) if len(sites) <= MAX_FILES else []
    counted = [(row.name, total.by_outcome[row.name]) for row in OUTCOMES]
    return render(
        "report.html",
        now=now,
        facts=facts,
        length=max(0.0, now - facts.started),
        finished=finished,
        waiting=waiting,
        differences=differences,
        total=total,
        every=sum(number for _, number in counted),
        refused=total.of(Group.REFUSED),
        exempt=total.by_outcome[EXEMPT],
        parts=[(name, number, OUTCOME_WORDS[name].sentence) for name, number in counted if number],
        settings=list(_settings(sites, files, facts)),
        tables=tables,
        files=files,
        is_cut=is_cut,
    )


# --- tables


def _tables(
    sites: Sequence[OriginStats], facts: CrawlFacts, now: float
) -> Iterator[tuple[str, Table]]:
    """The tables with a row, by id."""
    refused: list[Entry] = []
    silent: list[Entry] = []
    late: list[Entry] = []
    doubtful: list[Entry] = []
    hasty: list[Entry] = []
    for site in sites:
        through = site.requests.of(Group.LET_THROUGH)
        since = site.pending_since
        wait = site.wait_seconds if since is None else max(0.0, now - since)
        refused += _refusals(site)
        end = _end(site)
        if site.is_silent:
            lost = site.requests.by_outcome["refused_unreachable"]
            silent.append(_of_site(site, end, lost, wait))
        elif site.is_late(facts.slow):
            late.append(_of_site(site, f"{end}: {site.words}", site.waited, wait))
        if site.doubt is not None:
            doubtful.append(_of_site(site, end if site.is_given_up else site.doubt, through))
        if site.delay_not_kept is not None:
            hasty.append(_of_site(site, duration(site.delay_not_kept), through))
    for id_, title, head, entries in (
        ("refused", "What refused requests", "Rule or setting", refused),
        ("silent", "Sites that did not answer", "How it ended", silent),
        ("late", "Sites that answered late", "How it ended", late),
        ("doubtful", "Answers other than a robots.txt file", "Answer", doubtful),
        ("delays", "Crawl delays that were not kept", "Delay asked for", hasty),
    ):
        if entries:
            yield id_, _table(title, head, entries)


def _refusals(site: OriginStats) -> Iterator[Entry]:
    for one in site.refused_by:
        if one.reason == "unreachable":
            continue
        label = "" if one.line is None else f"line {one.line}"
        links = [Link(f"{site.origin}/robots.txt", label, url) for url in one.examples]
        yield Entry(_cause(one), one.count, site.origin, links, is_code=one.rule is not None)


def _cause(refusal: RefusalStats) -> str:
    if refusal.rule is not None:
        return refusal.rule.partition("#")[0].strip()  # without its comment
    if refusal.reason == "rule":
        return "further rules"
    return OUTCOME_WORDS[f"refused_{refusal.reason}"].short


def _of_site(site: OriginStats, head: str, requests: int, wait: float | None = None) -> Entry:
    parts = [duration(wait)] if wait else []
    parts += [count(requests, "request")] if requests else []
    link = Link(f"{site.origin}/robots.txt", site.origin, ", ".join(parts))
    return Entry(head, requests, site.origin, [link], wait)


def _end(site: OriginStats) -> str:
    """How the latest wait ended; of a failure its kind, which sites share."""
    if site.pending_since is not None or site.answer is None:
        return f"{NO_ANSWER} so far"
    failure = (site.failure or NO_ANSWER).partition(":")[0]
    if site.wait_end is None:
        return f"{site.words} ({failure})"
    kind = site.wait_end.failure and site.wait_end.failure.partition(":")[0]
    return end_in_words(site.wait_end._replace(failure=kind))


def _table(title: str, head: str, entries: Iterable[Entry]) -> Table:
    """Rows by head, those with most requests first; a row names its sites in turn."""
    found: dict[tuple[str, bool], list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda one: one.requests, reverse=True):
        found[entry.head, entry.is_code].append(entry)
    sums = {key: sum(one.requests for one in ones) for key, ones in found.items()}
    rows, has_waits = [], False
    for key in sorted(found, key=sums.__getitem__, reverse=True):
        ones = found[key]
        numbers = [f"{sums[key]:,}", f"{len({one.site for one in ones}):,}"]
        waits = [one.wait for one in ones if one.wait is not None]
        if waits:
            has_waits = True
            numbers.append(duration(max(waits)))
        in_turn = chain.from_iterable(zip_longest(*(one.links for one in ones[:MAX_NAMED])))
        links = list(islice(filter(None, in_turn), MAX_NAMED))
        rows.append(Row(numbers, *key, links))
    columns = ["Requests", "Sites", *(["Longest wait"] if has_waits else []), head]
    sites = {one.site for ones in found.values() for one in ones}
    return Table(title, sum(sums.values()), len(sites), columns, rows)


# --- beside the tables


def _settings(
    sites: Sequence[OriginStats], files: Sequence[File], facts: CrawlFacts
) -> Iterator[Fact]:
    yield "Crawler", facts.token, ""
    if len(files) == 1:
        yield "Group", files[0].group, ""
    answers = Counter(site.words for site in sites).most_common()
    kinds = ", ".join(f"{number:,} {words}" for words, number in answers)
    yield "Sites", sites[0].origin if len(sites) == 1 else f"{len(sites):,}", kinds
    yield "Edition", facts.edition.name, ""
    yield "Store", facts.store, ""
    asked = [delay for site in sites if (delay := site.delay_not_kept) is not None]
    ask = count(len(asked), "site asks", "sites ask")
    more = f"{ask} for one, at most {max(asked):g} s" if asked else ""
    yield "Crawl delay", "kept" if facts.keeps_delays else "not kept", more
    if facts.overrides:
        used = sum((site.overrides for site in sites), Counter())
        more = ", ".join(f"{count(number, 'request')}: {kind}" for kind, number in used.items())
        yield "Overrides", first_of(facts.overrides, 3), more


def _files(sites: Iterable[OriginStats], facts: CrawlFacts) -> Iterator[File]:
    """The files of a small crawl, with the lines that refused requests."""
    for site in sites:
        if site.file is None:
            continue
        file = ParsedFile(RobotsTxt.parse(site.file.body, site.file.edition))
        group = file.group_for(facts.tokens)
        texts = {line.number: decode(line.text).strip() for line in file.lines}
        notes: dict[int, dict[str, str]] = defaultdict(dict)
        for one in site.refused_by:
            # The file may have changed since.
            if one.line is not None and texts.get(one.line, "").startswith(_beginning(one.rule)):
                notes[one.line][f"refused {count(one.count, 'request')}"] = "bad"
        for line in group.other:
            if line.field == "crawl-delay" and site.delay_not_kept is not None:
                notes[line.line]["not kept"] = "note"
        rows = listing(file, [facts.tokens], (), notes)
        yield File(site.origin, file.summary(), group_words(group), rows)


def _beginning(rule: str | None) -> str:
    """The text of a line as far as it is kept."""
    return (rule or "").removesuffix("…").strip()
