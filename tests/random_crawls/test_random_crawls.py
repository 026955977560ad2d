"""Random crawls, each judged by every law.

A law yields a sentence for every break of it. It judges by the server's log, the spiders' notes and
the evidence, and knows the rules from the plan alone. ``ROBOTSPEC_SEEDS="17 4711"`` repeats the
crawls of these seeds; ``ROBOTSPEC_PROFILE=long`` tries hundreds of fresh ones.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice, pairwise
from urllib.parse import urlsplit

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.audit import Audit, Timeline
from scrapy_robotspec.evidence.replay import replay
from tests.random_crawls.history import Asked, History, Served, crawl
from tests.random_crawls.plan import DEAD_PROXY, Group, RobotsResponse
from tests.support.account import evidenced, grouped, reported, sent, stats_differ, summed_up
from tests.support.server import ahead

SEEDS = list(range(20))
if os.environ.get("ROBOTSPEC_PROFILE") == "long":
    SEEDS = random.sample(range(10**6), 300)
if given := os.environ.get("ROBOTSPEC_SEEDS"):
    SEEDS = [int(seed) for seed in given.split()]
#: Seconds for which a page or a response may be on its way.
_GRACE = 0.5
#: A page may come before its turn by this time: a busy machine sends others late (seconds).
_AHEAD = 0.25
#: What tables may keep of an idle origin: rules, evidence, rows, words, a bounded pace, overrides.
_KEPT = {"Resolved", "State", "OriginStats", "str", "float", "SlotQueue", "Override", "NoneType"}


class _Rules:
    """What the robots.txt files of the plan said, and when."""

    def __init__(self, history: History) -> None:
        self._history = history
        own = [name for name in history.plan.settings if name.startswith("ROBOTSPEC_")]
        self._set = {name.removeprefix("ROBOTSPEC_"): history.plan.settings[name] for name in own}
        unsent = [page for page in history.plan.pages if page.meta.get("proxy") == DEAD_PROXY]
        dead = {urlsplit(page.url).hostname for page in unsent}
        if dead and history.plan.sites[0].host.islower():  # server errors may be a proxy's
            dead = {site.host for site in history.plan.sites}
        #: Sites behind a failure between crawl and site, which may begin or end an outage.
        self._dead = {n for n, site in enumerate(history.plan.sites) if site.host in dead}
        self.fetches = defaultdict[tuple[str, int], list[Served]](list)
        for served in history.served:
            self.fetches[history.key(served)].append(served)

    def _served(self, asked: Asked) -> list[Served]:
        """The requests for the robots.txt of a page by all crawls that share their results."""
        return self.fetches[self._history.key(asked)]

    def meaning(self, response: RobotsResponse) -> str:
        """``rules``, ``open``, ``closed``, ``temporary`` or ``failure``."""
        policy = self._set["STATUS_POLICY"]
        if response.kind in ("down", "silent", "broken") or policy.get(response.status):
            return "failure"
        if response.kind in ("rules", "temporary"):
            return response.kind
        return "closed" if response.status >= 400 and "4xx" in policy else "open"

    def life(self, response: RobotsResponse) -> float:
        """The lifetime of an answer (seconds)."""
        usual: float = self._set["CACHE_TTL"]
        stated = usual if response.life is None else response.life
        life: float = max(stated, self._set["CACHE_MIN_TTL"])
        return min(life, usual) if response.kind in ("doubtful", "temporary") else life

    def came_late(self, served: Served) -> bool:
        """Whether the crawl may have given up before the response came."""
        limit = self._set["FETCH_TIMEOUT"]
        if served.sent is None or served.sent - served.at > 0.6 * limit:
            return True
        return self._is_starved(served.crawl, served.at - limit, served.sent + limit)

    def is_cut_off(self, served: Served) -> bool:
        """Whether the crawl may have closed before the response came, so that others may ask."""
        run, sent = self._history.run_of(served.crawl), served.sent or served.at
        ends = [event["at"] for event in run.result.of("closed") if event["crawl"] == served.crawl]
        return bool(run.process.stop) or any(sent > end - _GRACE for end in ends)

    def _is_starved(self, crawl: str, began: float, ended: float) -> bool:
        """Whether a crawl may have given up an attempt because it could not read the answer."""
        stood_still = ended - began - self._history.elapsed(crawl, began, ended)
        return bool(stood_still > 0.2 * self._set["FETCH_TIMEOUT"])

    def may_leave(self, asked: Asked) -> bool:
        """Whether anything may allow a page at its moment."""
        if "dont_obey_robotstxt" in asked.page.meta or asked.override == "ignore":
            return True
        if isinstance(asked.override, str):
            return asked.override != "disallow" and f"/{asked.section}/" not in asked.override
        if self._set["UNREACHABLE"] == "allow" and self._is_down(asked):
            return True
        return any(self._allows(served, asked) for served in self._in_force(asked))

    def _allows(self, served: Served, asked: Asked) -> bool:
        meaning, group = self.meaning(served.response), self._group(served.response, asked)
        if meaning == "temporary":
            return "4xx" not in self._set["STATUS_POLICY"]
        if meaning != "rules" or group is None:
            return meaning != "closed"
        refuses = self._set["USAGE"] and self._set["USAGE_POLICY"] == "refuse-disallowed"
        return asked.section not in (*group.closed, *(group.unusable if refuses else ()))

    def _group(self, response: RobotsResponse, asked: Asked) -> Group | None:
        """The group that a page follows."""
        own = asked.override.get("token")
        tokens = (own,) if own else self._set["USER_AGENT_TOKEN"]
        tokens = asked.page.meta.get("robotspec_user_agent_token", tokens)
        named = [response.groups[token] for token in tokens if token in response.groups]
        return named[0] if named else response.groups.get("*")

    def _in_force(self, asked: Asked) -> Iterator[Served]:
        """The answers that may be in force as a page is sent."""
        for served in self._served(asked):
            if served.sent is None or served.sent > asked.at or self._is_replaced(served, asked):
                continue
            age = self._history.elapsed(asked.crawl, served.sent, asked.at)
            is_fresh = age <= self.life(served.response) + _GRACE
            meaning = self.meaning(served.response)
            if meaning == "failure" or (meaning == "temporary" and not self._counts(served, asked)):
                continue
            if is_fresh or self._stays(served.sent, asked):
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
        is_late = served.at - before[0].at >= self._set["HOLD_TIMEOUT"] - _GRACE
        return bool(is_late or len(before) > self._set["RETRY_TIMES"])

    def _stays(self, since: float, asked: Asked) -> bool:
        """Whether an answer may be in use after its lifetime (FET-13, FET-19)."""
        failures = len(self._failures(asked, since, "failure")) + (asked.site in self._dead)
        is_used = isinstance(self._set["EDITION"], dict) and failures > 1
        return is_used or bool(self._failures(asked, since, "temporary"))

    def _is_down(self, asked: Asked) -> bool:
        """Whether the last attempt may have failed."""
        failures = self._failures(asked, 0.0, "failure", "temporary")
        failed = any(not self._is_replaced(served, asked) for served in failures)
        began = asked.at - 2 * self._set["FETCH_TIMEOUT"]
        is_starved = self._is_starved(asked.crawl, began, asked.at)
        return failed or is_starved or (asked.site in self._dead)

    def delay(self, asked: Asked) -> float:
        """The least crawl delay that may be in force as a page is sent (seconds)."""
        default = self._set["DEFAULT_CRAWL_DELAY"] or 0.0
        if "dont_obey_robotstxt" in asked.page.meta or isinstance(asked.override, str):
            return 0.0
        if "crawl_delay" in asked.override:
            return float(asked.override["crawl_delay"])
        groups = [self._group(served.response, asked) for served in self._in_force(asked)]
        if self._is_down(asked) or not self._set["CRAWL_DELAY"]:
            groups = [None]
        stated = [None if group is None else group.delay for group in groups]
        return min((default if each is None else each for each in stated), default=0.0)

    def least_pause(self, before: Served, outage: Served | None, at: float) -> float:
        """Seconds after *before*, which may be in an outage, until the next request."""
        if outage is None:
            return 0.8 * self.life(before.response)
        held = at - outage.at - self._set["FETCH_TIMEOUT"] * (outage.response.kind == "silent")
        if before.site in self._dead or abs(held - self._set["HOLD_TIMEOUT"]) < _GRACE:
            return 0.0  # an attempt ends the time since the first failure
        return float(self._set["RETRY_DELAY"]) / 2


def law_no_forbidden_page(history: History) -> Iterator[str]:
    """CAC-07: a page leaves by rules in force that allow it."""
    rules = _Rules(history)
    yield from (f"{asked} was not allowed" for asked in history.asked if not rules.may_leave(asked))


def law_delays_are_kept(history: History) -> Iterator[str]:
    """EXT-01: over all crawls that share a store."""
    rules, pages = _Rules(history), defaultdict[tuple[str, int], list[tuple[float, float]]](list)
    for asked in history.asked:
        meddling = asked.page.meta.get("meddling", {})
        if (delay := rules.delay(asked)) and meddling.get("after") != "wait":  # after its turn
            pages[history.key(asked)].append((asked.at, delay))
    for key, times in pages.items():
        if (early := ahead(times)) > _AHEAD:
            yield f"pages of {key} came {early:.3f} s before their turn: {times}"


def law_robots_are_fetched_within_lifetimes(history: History) -> Iterator[str]:
    """CAC-01, CAC-05: one fetch at a time, none of a fresh answer, and pauses after failures."""
    rules = _Rules(history)
    for each in rules.fetches.values():
        outage: Served | None = None
        for before, after in pairwise(each):
            outage = None if before.response.is_answer else outage or before
            unsure = each if before.crawl != after.crawl else [before]  # one may have given up
            if rules.is_cut_off(before) or any(map(rules.came_late, unsure)):
                continue
            pause = after.at - (before.sent or before.at)
            if pause < rules.least_pause(before, outage, after.at) - 0.05:
                yield f"{after} came {pause:.3f} s after {before}"


def law_each_request_ends_once(history: History) -> Iterator[str]:
    """Each request ends once, whatever ends the crawl."""
    given, ends, pages = set[int](), Counter[int](), history.plan.pages
    for run in history.runs:
        given.update(event["id"] for event in run.result.of("given"))
        own = Counter(event["id"] for event in run.result.of("end"))
        yield from (f"page {page} ended {n} times in a process" for page, n in own.items() if n > 1)
        ends += own
        for event in run.result.of("end") if history.plan.resumable else ():
            if "closed before" in event["text"] and pages[event["id"]].via != "inline":
                yield f"{event} instead of going back to the queue"
    is_killed = any(run.is_killed for run in history.runs)
    is_stopped = any(run.process.stop for run in history.runs)
    for page in given if not is_killed else ():
        may_be_lost = is_stopped and (pages[page].via == "inline" or not history.plan.resumable)
        if ends[page] > 1 or (ends[page] == 0 and not may_be_lost):
            yield f"{pages[page]} ended {ends[page]} times"


def law_crawls_end(history: History) -> Iterator[str]:
    """By themselves, or soon after a signal, without an error in the log."""
    for run in history.runs:
        errors = run.result.lines(" ERROR: ") + run.result.lines(" CRITICAL: ")
        yield from (line for line in errors if "[scrapy." not in line)
        yield from (part[:3000] for part in run.result.log.split("Traceback")[1:])
        if not run.has_ended or run.result.exit_code > 0:
            yield f"{run.process} goes on, or ended with {run.result.exit_code}"


def law_counts_add_up(history: History) -> Iterator[str]:
    """Log, stats, reports, evidence, and how requests ended add up alike."""
    total = Counter[str]()
    for run in history.runs:
        outcomes = Counter[str]()
        for closed in run.result.of("closed"):
            counts = reported(history.folder / f"{closed['crawl']}.jsonl")
            outcomes.update(counts)
            ends = [event for event in run.result.of("end") if event["spider"] == closed["spider"]]
            errors = Counter(event["error"] for event in ends)
            refused = errors["ForbiddenByRobots"] + errors["ForbiddenUsage"]
            given_up = counts["refused_unreachable"]
            expected = (grouped(counts)["refused"] - given_up, given_up)
            if (refused, errors["RobotsUnreachable"]) != expected:
                yield f"{closed['crawl']}: {counts}, but {errors}"
            if stats_differ(closed["stats"], counts):
                yield f"{closed['crawl']}: {counts}, but {closed['stats']}"
        if not run.is_killed and (summary := summed_up(run.result)) != grouped(outcomes):
            yield f"{run.crawls}: the log has {summary}, the reports {outcomes}"
        total.update(outcomes)
    if any(run.is_killed or not run.has_ended for run in history.runs):
        return
    if (evidence := evidenced(history.folder / "evidence")) != total:
        yield f"the evidence ends with {evidence}, the reports with {total}"
    if len(history.sent) != sent(total):
        yield f"{len(history.sent)} pages left by the evidence, {sent(total)} by the reports"


def law_no_table_keeps_an_idle_origin(history: History) -> Iterator[str]:
    """After a while without requests; another spider's tables are in the same process."""
    for run in history.runs:
        for event in run.result.of("tables") if len(run.crawls) == 1 else ():
            if kept := set(event["values"]) - _KEPT:
                yield f"tables of origins keep {kept}"


def law_evidence_agrees(history: History) -> Iterator[str]:
    """Replay, audit of the server's log, and a ``sent`` line for each page that left."""
    folder = history.folder / "evidence"
    if not folder.exists():  # a process was killed before it made it
        return
    yield from map(str, replay(folder).problems)
    tokens = tuple(history.plan.settings["ROBOTSPEC_USER_AGENT_TOKEN"])
    audit = Audit(Timeline(folder), tokens, 1.0)
    own = {"robotspec_user_agent_token", "dont_obey_robotstxt"}  # an audit does not know them
    unlike = {each.url for each in history.asked if each.override or own & {*each.page.meta}}
    for at, url in history.requests:
        if url not in unlike:
            audit.add(Request(at, 0.0, True, url), Origin.of(url), url)
    audit.look_up()
    yield from map(str, audit.accused)
    left = Counter(page.url for page in history.sent)
    answered = Counter(page.url for page in history.sent if page.is_answered)
    counts = Counter(asked.url for asked in history.asked)
    is_killed = any(run.is_killed for run in history.runs)
    for url in {*left, *counts}:
        is_lost = is_killed and left[url] < counts[url]  # with the last lines of the log
        if not answered[url] <= counts[url] <= left[url] and not is_lost:
            yield f"{url} was requested {counts[url]} times, the evidence says {left[url]}"


LAWS = [law for name, law in list(globals().items()) if name.startswith("law_")]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_law_is_broken(seed: int) -> None:
    """Sites, settings, queues, tokens, middlewares, signals and resumes of all kinds."""
    with crawl(seed) as history:
        broken = [f"{law.__name__}: {each}" for law in LAWS for each in islice(law(history), 5)]
        print(history.plan, *(run.result.log for run in history.runs), sep="\n\n")
        print(*history.served, *history.asked, *history.sent, sep="\n")
    assert len(LAWS) == 8, "each function law_* is one"
    again = f"ROBOTSPEC_SEEDS={seed} python3 run.py tests tests/random_crawls"
    assert not broken, "\n".join([*broken, f"repeat it with {again}"])
