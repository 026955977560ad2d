"""The report of a crawl as a page without scripts or network.

It answers in this order: the outcomes of all requests, what to do, the settings in force, what
refused, which sites did not answer or answered late, and what the files of a small crawl contain.
The template has its words; this finds what belongs into its tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.access.reasons import NO_ANSWER, OUTCOMES, Group
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.as_html import Note, listing, render
from scrapy_robotspec.render.crawl_report import MAX_FILES, OriginStats, RefusalStats, total_of
from scrapy_robotspec.render.explanation import utc
from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens
from scrapy_robotspec.render.text import count, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


#: Max URLs or sites that are named in a row.
MAX_NAMED = 10

#: A site, the words of the link to its robots.txt, and a text beside it.
Link = tuple[str, str, str]


class Entry(NamedTuple):
    """Requests of one site; those with the same *head* share a row."""

    head: str
    requests: int
    site: str
    links: Sequence[Link]
    wait: float = 0.0
    """Seconds."""
    is_code: bool = False
    file: str = ""
    """When the robots.txt was fetched, and its size."""


def report_page(
    origins: Sequence[OriginStats],
    *,
    now: float,
    started: float,
    slow: float,
    tokens: Tokens,
    **shown: Any,
) -> str:
    """The page of a crawl, of bounded size.

    The crawl may go on counting: each value that may become None again is read once. *now* and
    *started*: epoch seconds. *slow*: waits of this length are shown (seconds). *tokens*: the
    crawler's product tokens. *shown*, for the template alone:

    - ``spider``, ``edition``, ``store``: names;
    - ``token``: the product tokens and where they come from;
    - ``keeps_delays``: whether crawl delays are kept;
    - ``overridden``: the first hosts with an override, in words; empty without any;
    - ``finished``: why the crawl has ended; None: it has not;
    - ``is_cut``: only totals contain some sites, rules or URLs;
    - ``differences``: requests of a dry run, by how our decision compares with Scrapy's; or None.
    """
    total = total_of(origins)
    sites = [origin for origin in origins if origin.origin]
    tables: dict[str, list[Entry]] = defaultdict(list)
    for site in sites:
        for table, entry in _entries(site, slow, now):
            tables[table].append(entry)
    return render(
        "report.html",
        now=now,
        length=max(0.0, now - started),
        total=total.requests,
        waiting=total.waiting,
        refused=total.requests.in_group(Group.REFUSED),
        outcomes=OUTCOMES,
        sites=sites,
        answers=Counter(sorted(site.words for site in sites)).most_common(),
        overrides=total.overrides,
        tables=tables,
        rows=_rows,
        in_turn=_in_turn,
        files=list(_files(sites, tokens)) if len(sites) <= MAX_FILES else [],
        **shown,
    )


# --- tables


def _entries(site: OriginStats, slow: float, now: float) -> Iterator[tuple[str, Entry]]:
    """The entries of *site*, each with the name of its table."""
    for refusal in site.refused_by:
        if refusal.reason != "unreachable":
            yield "refused", _refusal(site, refusal)
    through = site.requests.in_group(Group.LET_THROUGH)
    since = site.pending_since
    if site.waiting:
        yield "waiting", _waiting(site, now)
    wait = site.wait_seconds if since is None else max(0.0, now - since)
    end, words = site.wait_end, _end(site)
    # The answer is in doubt where a temporary status stood (FET-19).
    is_given_up = end is not None and end.end == "given_up"
    is_awaited = since is not None or (site.first_asked is not None and site.answered is None)
    if site.waiting and since is not None:
        pass  # the table of waits has it
    elif is_awaited or site.answer == "unreachable":
        lost = site.requests.by_outcome["refused_unreachable"]
        if end is None:
            lost += site.waited  # in a dry run
        yield "silent", _of_site(site, words, lost, wait)
    elif end is not None and not is_given_up and site.was_slow(slow):
        yield "late", _of_site(site, f"{words}: {site.words}", site.waited, wait)
    if site.doubt is not None and site.answer != "disallow":  # else the user has decided
        yield "doubtful", _of_site(site, words if is_given_up else site.doubt, through)
    if site.delay_not_kept is not None:
        yield "delays", _of_site(site, duration(site.delay_not_kept), through)


def _refusal(site: OriginStats, refusal: RefusalStats) -> Entry:
    if refusal.rule is not None:
        head = refusal.rule.partition("#")[0].strip()  # without its comment
    elif refusal.reason == "rule":
        head = "further rules"
    else:
        head = OUTCOMES[f"refused_{refusal.reason}"].short
    label = "" if refusal.line is None else f"line {refusal.line}"
    links = [(site.origin, label, url) for url in refusal.examples]
    is_code = refusal.rule is not None
    return Entry(head, refusal.count, site.origin, links, is_code=is_code, file=_fetched(site))


def _waiting(site: OriginStats, now: float) -> Entry:
    """The requests of *site* that wait, with the cause and what follows."""
    since, outlook = site.pending_since, site.outlook
    follows = ""
    if since is None and site.crawl_delay is not None:
        head = f"crawl delay of {duration(site.crawl_delay)}"
    elif since is None:
        head = "not asked yet: other sites come first"
    elif outlook is None:
        head = f"{NO_ANSWER} so far"
    else:
        head, follows = outlook.failure.partition(":")[0], outlook.words(now)
    wait = 0.0 if since is None else max(0.0, now - since)
    return _of_site(site, head, site.waiting, wait, follows)


def _of_site(
    site: OriginStats, head: str, requests: int, wait: float = 0.0, follows: str = ""
) -> Entry:
    parts = duration(wait) if wait else "", count(requests, "request") if requests else "", follows
    text = ", ".join(filter(None, parts))
    return Entry(head, requests, site.origin, [(site.origin, site.origin, text)], wait)


def _end(site: OriginStats) -> str:
    """How the latest wait ended; of a failure its kind, which sites share."""
    if site.pending_since is not None or site.answer is None:
        return f"{NO_ANSWER} so far"
    failure = (site.failure or NO_ANSWER).partition(":")[0]
    end = site.wait_end
    if end is None:
        return f"{site.words} ({failure})"
    return replace(end, failure=end.failure and end.failure.partition(":")[0]).words


def _rows(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each row, those with most requests first."""
    rows: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda one: one.requests, reverse=True):
        rows[entry.head].append(entry)
    return sorted(rows.values(), key=lambda row: sum(one.requests for one in row), reverse=True)


def _in_turn(row: Sequence[Entry]) -> list[Link]:
    """The links of a row, of its sites in turn."""
    links = zip_longest(*(entry.links for entry in row[:MAX_NAMED]))
    return list(islice(filter(None, chain.from_iterable(links)), MAX_NAMED))


# --- files


def _fetched(site: OriginStats) -> str:
    """When the copy held was fetched, and its size; empty where there is none."""
    if site.fetched is None or site.bytes is None:
        return ""
    return f"fetched at {utc(site.fetched)}, {site.bytes:,} bytes"


def _files(sites: Iterable[OriginStats], tokens: Tokens) -> Iterator[dict[str, object]]:
    """The files of a small crawl, with the lines that refused requests."""
    for site in sites:
        if site.file is None:
            continue
        file = ParsedFile(RobotsTxt.parse(site.file.body, site.file.edition), site.origin)
        group = file.group_for(tokens)
        texts = {line.number: decode(line.text).strip() for line in file.lines}
        notes: list[Note] = []
        for one in site.refused_by:
            beginning = (one.rule or "").removesuffix("…").strip()
            # The file may have changed since.
            if one.line is not None and texts.get(one.line, "").startswith(beginning):
                notes.append((one.line, f"refused {count(one.count, 'request')}", "bad"))
        if site.delay_not_kept is not None:
            delays = [line.line for line in group.other if line.field == "crawl-delay"]
            notes += [(line, "not kept", "note") for line in delays]
        yield {
            "site": site.origin,
            "summary": file.summary(),
            "fetched": _fetched(site),
            "group": group.words,
            "rows": listing(file, [tokens], notes),
        }
