"""Enforcer: applies decisions to requests and their responses.

The final URL of a response differs from its request's where the download handler has followed
redirects; its ``Content-Usage`` header is combined with what robots.txt states (USE-05).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag
from weakref import ref

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.account import ANSWERED, outcome_of
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.reasons import EXEMPT, NO_ROBOTS_TXT
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin.deciding.request_policy import Answer
from scrapy_robotspec.plugin.exceptions import Refused, refusal
from scrapy_robotspec.plugin.meta_keys import (
    DONT_FILTER,
    KEPT_TOKENS,
    REFUSED,
    SENT_TO_PUPPETEER,
    SENT_TO_SPLASH,
    SUMMARY,
    TRANSFER,
)
from scrapy_robotspec.plugin.reporting.crawl_account import NEVER_DECIDED

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

    from scrapy_robotspec.evidence.log_lines import LoggedDecision
    from scrapy_robotspec.plugin.reporting.stats import CrawlStats
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
    from scrapy_robotspec.protocol.usage import Usage


HEADER = b"Content-Usage"

#: Stats of requests that a fresh and a stale record decided.
_FROM_CACHE = ("robotspec/cache/hit", "robotspec/cache/stale")
#: Outcomes of requests whose pages have no preferences.
_UNCHECKED = (EXEMPT, NO_ROBOTS_TXT)


class RulesExpired(IgnoreRequest):
    """A request goes back to the scheduler: its rules have expired."""


@dataclass(slots=True, eq=False)
class Passed:
    """A request that was let through, and how it counts."""

    found: Resolved | None
    """The rules by which it was let through; None where none were needed."""
    logged: LoggedDecision | None
    """Its line in the evidence."""
    outcome: str
    origin: Origin | None
    sent: bool = False
    """Whether it has left its download slot, or another middleware has answered."""


class Enforcer:
    """Counts decisions in *stats* and raises for those that refuse.

    *crawl_delay* learns when pages leave.
    """

    def __init__(
        self, robots: CrawlRobots, stats: CrawlStats, crawl_delay: CrawlDelay | None
    ) -> None:
        self.robots = robots
        self._crawl_delay = crawl_delay
        self._policy = robots.policy
        self._observer = robots.observer
        self._stats = stats
        self._account = stats.account
        # As a WeakKeyDictionary, whose methods are in Python and cost more than a decision.
        self._passed: dict[ref[Request], Passed] = {}
        self._overrides = robots.settings.overrides
        self._checks_final_url = robots.settings.check_final_url
        self._is_plain = False

    def enforce(self, request: Request, answer: Answer, again: bool = False) -> None:
        """Count *answer*; return if it lets *request* through, else raise.

        *again*: rules have changed since it was let through.
        """
        # hot path
        decision, found, extensions, _ = answer
        account, origin, allowed = self._account, decision.origin, decision.allowed
        assert origin is not None
        if not allowed and request.meta.get(REFUSED) == request.url:
            raise refusal(decision)  # it counts already: another middleware repeats it
        observer = self._observer
        logged = None if observer is None else observer.on_decision(request, answer, "request")
        if found is not None and not again:
            account.of_pages[_FROM_CACHE[found.unreachable]] += 1
        if self._overrides and not again and (override := self._overrides.find(origin)) is not None:
            account.overridden(override, origin)
        meta = request.meta
        if DONT_FILTER in meta:
            request.dont_filter = meta.pop(DONT_FILTER)
        if SUMMARY in meta or not allowed:
            self._forget(request)
        if not allowed:
            meta[REFUSED] = request.url
            raise self.refuse(request, request, answer)
        if extensions.crawl_delay and not self._is_kept(extensions.crawl_delay, origin):
            account.delay_not_kept(origin, extensions.crawl_delay)
        meta[SUMMARY] = summary = summarize(answer)
        if "usage" in summary:
            self._keep_plain()
        outcome = outcome_of(True, decision.reason, found and found.record.doubt)
        self._passed[ref(request, self._passed.pop)] = Passed(found, logged, outcome, origin)
        account.requests_of(origin).by_outcome[outcome] += 1

    def _is_kept(self, delay: float, origin: Origin) -> bool:
        """Whether pages are at least *delay* seconds apart, or the user has chosen otherwise."""
        settings, override = self.robots.settings, self._policy.override(origin)
        chosen = override is not None and override.crawl_delay is not None
        return chosen or settings.crawl_delay or (settings.default_crawl_delay or 0.0) >= delay

    def exempt(self, request: Request) -> None:
        """Let *request* through, which needs no robots.txt (any more)."""
        meta = request.meta
        if TRANSFER in meta or request.url.startswith(":"):  # a placeholder of another middleware
            return
        if DONT_FILTER in meta:
            request.dont_filter = meta.pop(DONT_FILTER)
        self._forget(request)
        logged = None if self._observer is None else self._observer.on_exempt(request)
        outcome, url, is_counted = EXEMPT if meta.get(EXEMPT) else NO_ROBOTS_TXT, request.url, False
        if is_sent_to_service(request):
            from scrapy_robotspec.plugin import splash  # few crawls use it

            outcome, url, is_counted = splash.count_of(request, self.robots.lookup.store)
        origin = None if outcome == NO_ROBOTS_TXT else Origin.of(url)
        self._passed[ref(request, self._passed.pop)] = Passed(None, logged, outcome, origin)
        if not is_counted:
            self._account.requests_of(origin).by_outcome[outcome] += 1

    def _forget(self, request: Request) -> None:
        """*request* is decided about once more; if it was not sent, it counts once."""
        before = self._passed.pop(ref(request), None)
        if before is not None and not before.sent:
            self._account.kept(before.origin).undo(before.outcome)

    def check_sending(self, request: Request) -> LoggedDecision | None:
        """Raise unless *request*, which leaves its download slot, may be sent (CAC-07).

        Raises :class:`RulesExpired` where its rules have to be fetched again. Returns what evidence
        the decision left.
        """
        # hot path
        passed = self._passed.get(ref(request))
        if passed is None:
            return None
        found = passed.found
        if found is not None:
            now = time.time()
            if self.robots.lookup.rules.get_valid(found.origin, now) is not found:
                answer = self.robots.decide_now(found.origin, request, now)
                if isinstance(answer, Pending) or (
                    self._crawl_delay is not None
                    and self._crawl_delay.begins(found, request, answer)
                ):
                    self._forget(request)
                    raise RulesExpired(f"the rules of {found.origin} have expired")
                self.enforce(request, answer, again=True)
                passed = self._passed[ref(request)]
            if self._crawl_delay is not None:
                self._crawl_delay.note_sent(found.origin)
        elif is_sent_to_service(request):
            from scrapy_robotspec.plugin import splash

            asked = splash.decide_about_page(self.robots, request)
            if asked is not None:
                self._apply_again(request, *asked)
        passed.sent = True
        if passed.outcome != NO_ROBOTS_TXT:
            self._account.kept(passed.origin).sent += 1
        return passed.logged

    def _apply_again(self, request: Request, asked: Request, answer: Answer) -> None:
        """Apply *answer* about *asked* to *request*, which was let through before."""
        if not answer.decision.allowed:
            raise self.refuse(request, asked, answer)
        request.meta[SUMMARY] = summary = summarize(answer)
        if "usage" in summary:
            self._keep_plain()

    def _keep_plain(self) -> None:
        """Remove usages from requests that are scheduled, from the first on."""
        if not self._is_plain:
            self._is_plain = True
            self.robots.signals.connect(remove_usage, signals.request_scheduled)

    def refuse(self, request: Request, asked: Request, answer: Answer) -> Refused:
        """Count the refusal of *request*, and return the exception for it.

        *answer* is about *asked*: another URL where a download handler or a browser went on.
        """
        decision = answer.decision
        if decision.reason == "usage":
            assert decision.origin is not None
            self._count_usage(answer.usage, decision.origin)
        before = self._passed.pop(ref(request), None)
        if before is not None:
            self._account.kept(before.origin, before.sent).undo(before.outcome, sent=before.sent)
        refused = refusal(decision)
        self._stats.refused(request, asked, refused)
        return refused

    def _count_usage(self, usage: Usage | None, origin: Origin) -> None:
        # hot path
        if self._policy.usage is not None:
            self._account.count_usage(self._policy.usage.counts(usage), origin)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return *response*, unless its URL or its declared uses are not allowed."""
        # hot path
        passed = self._passed.get(ref(request))
        if passed is None or not passed.sent:
            self._note_answered(request, response, passed)
        elif not self.robots.tokens.is_compared and passed.found is not None:
            self.robots.tokens.compare(request)
        final = None
        if self._checks_final_url and response.url != request.url:
            final = final_request(page_of(request), response)
        request.meta.pop(KEPT_TOKENS, None)  # other requests may get its meta
        if final is not None and (origin := self._policy.origin(final)) is not None:
            answer = await self.robots.decide_later(origin, final)
            logged = self.robots.note_decision(final, answer, "final_url")
            self._apply_again(request, final, answer)
            if (passed := self._passed.get(ref(request))) is not None:
                passed.logged = logged  # its usage header is read with these rules
        # Headers are stored in this spelling: no call for each page that looks for another one.
        if self._policy.usage is not None or dict.__contains__(response.headers, HEADER):
            self._check_usage(request, response)
        return response

    def see_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Note *response* before another middleware makes a request of it."""
        if (passed := self._passed.get(ref(request))) and not passed.sent:
            self._note_answered(request, response, passed)
        return response

    def _note_answered(self, request: Request, response: Response, passed: Passed | None) -> None:
        """Note a response that nothing was seen leaving for: another middleware gave it."""
        if passed is None:
            if not (TRANSFER in request.meta or REFUSED in request.meta):
                self._account.of_pages[NEVER_DECIDED] += 1
        elif "cached" not in response.flags:
            passed.sent = True
            if passed.outcome != NO_ROBOTS_TXT:
                self._account.kept(passed.origin).answered += 1
                self._account.of_pages[f"robotspec/{ANSWERED}"] += 1
                if passed.logged is not None:
                    assert self._observer is not None
                    self._observer.on_answered(passed.logged, response.status)

    def _check_usage(self, request: Request, response: Response) -> None:
        """Combine the page's usage preferences with its header, and refuse it by them (USE-05)."""
        # hot path
        summary, passed = request.meta.get(SUMMARY), self._passed.get(ref(request))
        origin = Origin.of(response.url)
        if summary is None or passed is None or passed.outcome in _UNCHECKED or origin is None:
            return
        usage, header = summary.get("usage"), b""
        if dict.__contains__(response.headers, HEADER):
            header = b", ".join(response.headers.getlist(HEADER))
        if header:
            from scrapy_robotspec.protocol.usage import with_header  # few pages state any

            usage = with_header(usage, header)
            # A new dict: other requests may share the old one.
            request.meta[SUMMARY] = {**summary, "usage": usage}
            self._keep_plain()
        refused = self._policy.refusal_of_page(usage, origin)
        if passed.logged is not None:
            assert self._observer is not None
            self._observer.on_usage(passed.logged, header, refused)
        if refused is None:
            self._count_usage(usage, origin)
        else:
            of_file = {name: summary[name] for name in ("outcome", "status", "age")}
            decision = Decision(False, "usage", origin=origin, usage=refused, **of_file)
            raise self.refuse(request, request, Answer(decision, None, usage=usage))


def summarize(answer: Answer) -> dict[str, Any]:
    """``request.meta["robotspec"]``: the values of an answer, which can be pickled."""
    # hot path
    decision, found, extensions, usage = answer
    allowed, reason, verdict, outcome, status, age, _, origin, _, _, _ = decision
    rule = None if verdict is None else verdict.rule
    summary: dict[str, Any] = {
        "allowed": allowed,
        "reason": reason,
        "pattern": rule and rule.pattern,
        "line": rule and rule.line,
        "group": () if verdict is None else verdict.group,
        "edition": verdict and verdict.edition,
        "outcome": outcome,
        "status": status,
        "age": age,
        "origin": str(origin) if found is None else found.shown_origin,
        "other": extensions.fields.copy(),
    }
    if usage is not None and usage.statements:
        summary["usage"] = usage
    if extensions.licenses:
        summary["licenses"] = extensions.licenses
    return summary


def remove_usage(request: Request) -> None:
    """Remove the usage of *request*: not each queue can store an object."""
    summary = request.meta.get(SUMMARY)
    if summary and "usage" in summary:  # another request may have the same one
        request.meta[SUMMARY] = {key: summary[key] for key in summary if key != "usage"}


def is_sent_to_service(request: Request) -> bool:
    """Whether *request* asks a service for a page."""
    return SENT_TO_SPLASH in request.meta or SENT_TO_PUPPETEER in request.meta


def page_of(request: Request) -> Request:
    """The request for the page behind *request*."""
    if not is_sent_to_service(request):
        return request
    from scrapy_robotspec.plugin.splash import page_request

    return page_request(request)


def final_request(request: Request, response: Response) -> Request | None:
    """*request* redirected to the response's URL; None if equal."""
    if urldefrag(response.url).url == urldefrag(request.url).url:
        return None
    from scrapy_robotspec.plugin._compat_rare import with_url

    return with_url(request, response.url)
