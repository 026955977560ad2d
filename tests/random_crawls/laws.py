"""The laws of a crawl: each yields a sentence for every break of it in a history.

They judge by the server's log, the spiders' notes and the evidence, and know the rules from the
plan alone.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.audit import Audit, Timeline
from scrapy_robotspec.evidence.replay import replay
from tests.random_crawls.history import History
from tests.random_crawls.plan import DEAD_PROXY, Group, RobotsResponse
from tests.random_crawls.world import Asked, Served
from tests.support.server import ahead

#: Seconds for which a page or a response may be on its way.
_GRACE = 0.5
#: A page may come before its turn by this time: a busy machine sends others late (seconds).
_AHEAD = 0.25
#: What tables may keep of an idle origin: rules, evidence, words for the log, a bounded pace.
_KEPT = {"Resolved", "State", "str", "float", "Line"}


class _Rules:
    """What the robots.txt files of the plan said, and when."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.settings = history.plan.settings

    def _served(self, asked: Asked) -> list[Served]:
        """The requests for the robots.txt of a page by all crawls that share their results."""
        owner = self._history.owner
        sharing = [each for each in self._history.served if owner(each.crawl) == owner(asked.crawl)]
        return [each for each in sharing if each.site == asked.site]

    def meaning(self, response: RobotsResponse) -> str:
        """``rules``, ``open``, ``closed``, ``temporary`` or ``failure``."""
        policy = self.settings["ROBOTSPEC_STATUS_POLICY"]
        if response.kind in ("down", "silent", "broken") or policy.get(response.status):
            return "failure"
        if response.kind in ("rules", "temporary"):
            return response.kind
        return "closed" if response.status >= 400 and "4xx" in policy else "open"

    def life(self, response: RobotsResponse) -> float:
        """The lifetime of an answer (seconds)."""
        usual: float = self.settings["ROBOTSPEC_CACHE_TTL"]
        least: float = self.settings["ROBOTSPEC_CACHE_MIN_TTL"]
        stated = max(usual if response.life is None else response.life, least)
        return min(stated, usual) if response.kind in ("doubtful", "temporary") else stated

    def came_late(self, served: Served) -> bool:
        """Whether the crawl may have given up before the response came."""
        limit = self.settings["ROBOTSPEC_FETCH_TIMEOUT"]
        if served.sent is None or served.sent - served.at > 0.6 * limit:
            return True
        began, ended = served.at - limit, served.sent + limit
        stood_still = ended - began - self._history.elapsed(served.crawl, began, ended)
        return bool(stood_still > 0.3 * limit)

    def override(self, site: int) -> object:
        return self.settings["ROBOTSPEC_OVERRIDES"].get(self._history.plan.sites[site].host)

    def group(self, response: RobotsResponse, asked: Asked) -> Group | None:
        """The group that a page follows."""
        override, page = self.override(asked.site), self._history.plan.page(asked.page)
        tokens = page.tokens or self.settings["ROBOTSPEC_USER_AGENT_TOKEN"]
        if page.tokens is None and isinstance(override, dict) and "token" in override:
            tokens = (override["token"],)
        named = [response.groups[token] for token in tokens if token in response.groups]
        return named[0] if named else response.groups.get("*")

    # --- what allows a page

    def may_leave(self, asked: Asked) -> bool:
        override = self.override(asked.site)
        if self._history.plan.page(asked.page).exempt or override == "ignore":
            return True
        if isinstance(override, str):
            return override != "disallow" and f"/{asked.section}/" not in override
        if self.settings["ROBOTSPEC_UNREACHABLE"] == "allow" and self.is_down(asked):
            return True
        return any(self._allows(served, asked) for served in self.in_force(asked))

    def _allows(self, served: Served, asked: Asked) -> bool:
        meaning = self.meaning(served.response)
        if meaning == "temporary":
            return "4xx" not in self.settings["ROBOTSPEC_STATUS_POLICY"]
        group = self.group(served.response, asked)
        if meaning != "rules" or group is None:
            return meaning != "closed"
        refuses = self.settings["ROBOTSPEC_USAGE_POLICY"] == "refuse-disallowed"
        unusable = group.unusable if refuses and self.settings["ROBOTSPEC_USAGE"] else ()
        return asked.section not in (*group.closed, *unusable)

    def in_force(self, asked: Asked) -> Iterator[Served]:
        """The answers that may be in force as a page is sent."""
        for served in self._served(asked):
            if served.sent is None or served.sent > asked.at or self._is_replaced(served, asked):
                continue
            age = self._history.elapsed(asked.crawl, served.sent, asked.at)
            is_fresh = age <= self.life(served.response) + _GRACE
            meaning = self.meaning(served.response)
            if meaning == "temporary":
                if is_fresh and self._counts(served, asked):
                    yield served
            elif meaning != "failure" and (is_fresh or self._stays(served, asked)):
                yield served

    def _is_replaced(self, served: Served, asked: Asked) -> bool:
        """Whether the crawl got a later answer itself, and had time to obey it."""
        return any(
            later.crawl == asked.crawl
            and later.response.is_answer
            and later.sent is not None
            and later.sent > (served.sent or served.at)
            and not self.came_late(later)
            and self._history.elapsed(asked.crawl, later.sent, asked.at) > _GRACE
            for later in self._served(asked)
        )

    def _failures(self, asked: Asked, since: float, *meanings: str) -> list[Served]:
        return [
            served
            for served in self._served(asked)
            if since <= (served.sent or served.at) <= asked.at + _GRACE
            and (self.meaning(served.response) in meanings or self.came_late(served))
        ]

    def _counts(self, served: Served, asked: Asked) -> bool:
        """Whether a temporary status may be that of the last attempt (FET-19)."""
        before = self._failures(asked, 0.0, "failure", "temporary")
        hold: float = self.settings["ROBOTSPEC_HOLD_TIMEOUT"]
        most: int = self.settings["ROBOTSPEC_RETRY_TIMES"]
        return len(before) > most or served.at - before[0].at >= hold - _GRACE

    def _stays(self, served: Served, asked: Asked) -> bool:
        """Whether an answer may be in use after its lifetime (FET-13, FET-19)."""
        since = served.sent or 0.0
        failures = self._failures(asked, since, "failure")
        is_short = "ROBOTSPEC_EDITION" in self.settings and (
            len(failures) > 1 or self._has_dead_proxy(asked)
        )
        return is_short or bool(self._failures(asked, since, "temporary"))

    def is_down(self, asked: Asked) -> bool:
        """Whether the last attempt may have failed."""
        failures = self._failures(asked, 0.0, "failure", "temporary")
        failed = any(not self._is_replaced(served, asked) for served in failures)
        return failed or self._has_dead_proxy(asked)

    def _has_dead_proxy(self, asked: Asked) -> bool:
        host = f"//{self._history.plan.sites[asked.site].host}"
        pages = [page for pages in self._history.plan.pages.values() for page in pages]
        return any(page.proxy == DEAD_PROXY and host in page.url for page in pages)

    def delays(self, asked: Asked) -> Iterator[float]:
        """The crawl delays that may be in force as a page is sent (seconds)."""
        override = self.override(asked.site)
        default = self.settings["ROBOTSPEC_DEFAULT_CRAWL_DELAY"] or 0.0
        if self._history.plan.page(asked.page).exempt or isinstance(override, str):
            yield 0.0
        elif isinstance(override, dict) and "crawl_delay" in override:
            yield override["crawl_delay"]
        else:
            if self.is_down(asked):
                yield default
            for served in self.in_force(asked):
                group = self.group(served.response, asked)
                stated = None if group is None else group.delay
                obeyed = self.settings["ROBOTSPEC_CRAWL_DELAY"] and stated is not None
                yield stated if obeyed and stated else default


def no_forbidden_page(history: History) -> Iterator[str]:
    """CAC-07: a page leaves by rules in force that allow it."""
    rules = _Rules(history)
    yield from (f"{asked} was not allowed" for asked in history.asked if not rules.may_leave(asked))


def delays_are_kept(history: History) -> Iterator[str]:
    """EXT-01: over all crawls that share a store."""
    rules = _Rules(history)
    pages = defaultdict[tuple[str, int], list[tuple[float, float]]](list)
    for asked in history.asked:
        if delay := min(rules.delays(asked), default=0.0):
            pages[history.owner(asked.crawl), asked.site].append((asked.at, delay))
    for key, times in pages.items():
        if (early := ahead(times)) > _AHEAD:
            yield f"pages of {key} came {early:.3f} s before their turn: {times}"


def robots_are_fetched_within_lifetimes(history: History) -> Iterator[str]:
    """CAC-01, CAC-05: one fetch at a time, none of a fresh answer, and pauses after failures."""
    rules, fetches = _Rules(history), defaultdict[tuple[str, int], list[Served]](list)
    for served in history.served:
        fetches[history.owner(served.crawl), served.site].append(served)
    for each in fetches.values():
        outage: Served | None = None
        for before, after in pairwise(each):
            outage = None if before.response.is_answer else outage or before
            pause, least = after.at - (before.sent or before.at), 0.8 * rules.life(before.response)
            if outage is not None:
                ends = outage.at + rules.settings["ROBOTSPEC_HOLD_TIMEOUT"]  # with an attempt
                is_last = abs(after.at - ends) < _GRACE
                least = 0.0 if is_last else rules.settings["ROBOTSPEC_RETRY_DELAY"] / 2
            is_whole = history.run_of(before.crawl).process.stop is None
            if is_whole and pause < least - 0.05 and not rules.came_late(before):
                yield f"{after} came {pause:.3f} s after {before}"


def each_request_ends_once(history: History) -> Iterator[str]:
    """Whatever other middlewares do, and whoever stops the crawl."""
    given, ends = Counter[int](), Counter[int]()
    for run in history.runs:
        given.update(event["id"] for event in run.result.of("given"))
        own = Counter(
            event["id"] for kind in ("response", "error") for event in run.result.of(kind)
        )
        yield from (f"page {page} ended {n} times in a process" for page, n in own.items() if n > 1)
        ends += own
    is_killed = any(run.is_killed for run in history.runs)
    is_stopped = any(run.process.stop for run in history.runs)
    for page in map(history.plan.page, given):
        has_lost = is_stopped and (page.via == "inline" or not history.plan.resumable)
        if ends[page.id] != 1 and not is_killed and not (has_lost and not ends[page.id]):
            yield f"{page} ended {ends[page.id]} times"


def crawls_end(history: History) -> Iterator[str]:
    """By themselves, or soon after a signal, without an error in the log."""
    for run in history.runs:
        errors = run.result.lines(" ERROR: ") + run.result.lines(" CRITICAL: ")
        yield from (line for line in errors if "[scrapy." not in line)
        yield from (part[:3000] for part in run.result.log.split("Traceback")[1:])
        if not run.has_ended or run.result.exit_code > 0:
            yield f"{run.process} goes on, or ended with {run.result.exit_code}"


def counts_add_up(history: History) -> Iterator[str]:
    """Stats, and how requests ended."""
    for run in history.runs:
        for closed in run.result.of("closed"):
            spider, errors = closed["spider"], run.result.of("error")
            number = Counter(each["error"] for each in errors if each["spider"] == spider)
            expected = {
                "robotstxt/forbidden": number["ForbiddenByRobots"] + number["ForbiddenUsage"],
                "robotspec/unreachable": number["RobotsUnreachable"],
                "robotspec/waiting": 0,
                "robotspec/pending": 0,
            }
            found = {name: closed["stats"].get(name, 0) for name in expected}
            if found != expected:
                yield f"{spider}: {found}, not {expected}"


def no_table_keeps_an_idle_origin(history: History) -> Iterator[str]:
    """After a while without requests; another spider's tables are in the same process."""
    for run in history.runs:
        for event in run.result.of("tables") if len(run.crawls) == 1 else ():
            if kept := set(event["values"]) - _KEPT:
                yield f"tables of origins keep {kept}"


def evidence_agrees(history: History) -> Iterator[str]:
    """Replay, audit of the server's log, and a ``sent`` line for each page that left."""
    folder = history.folder / "evidence"
    if not folder.exists():  # a process was killed before it made it
        return
    yield from map(str, replay(folder).problems)
    audit = Audit(Timeline.read(folder), history.plan.settings["ROBOTSPEC_USER_AGENT_TOKEN"])
    rules, own = _Rules(history), set[str]()
    for asked in history.asked:
        page = history.plan.page(asked.page)
        if page.tokens or page.exempt or rules.override(asked.site):
            own.add(asked.url)  # an audit knows the tokens of the whole crawl alone
    for at, url in history.requests:
        if url not in own:
            audit.add(Request(at, 0.0, url), Origin.of(url), url)
    audit.look_up()
    yield from map(str, audit.accused)
    sent, answered = _sent(folder)
    counts = Counter(asked.url for asked in history.asked)
    is_killed = any(run.is_killed for run in history.runs)
    for url in {*sent, *counts}:
        is_lost = is_killed and sent[url] < counts[url]  # with the last lines of the log
        if not answered[url] <= counts[url] <= sent[url] and not is_lost:
            yield f"{url} was requested {counts[url]} times, the evidence says {sent[url]}"


def _sent(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """The URLs of the pages that left, and of those that were answered, by the decision logs."""
    sent, answered = Counter[str](), Counter[str]()
    for log in folder.glob("decisions-*.jsonl"):
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        urls = {line["number"]: line["url"] for line in lines if line["type"] == "decision"}
        left = [line for line in lines if line["type"] == "sent"]
        sent.update(urls[line["decision"]] for line in left)
        answered.update(urls[line["decision"]] for line in left if line["status"] is not None)
    return sent, answered


LAWS: list[Callable[[History], Iterator[str]]] = [
    no_forbidden_page,
    delays_are_kept,
    robots_are_fetched_within_lifetimes,
    each_request_ends_once,
    crawls_end,
    counts_add_up,
    no_table_keeps_an_idle_origin,
    evidence_agrees,
]
