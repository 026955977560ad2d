"""EvidenceObserver: logs decisions, and archives what they rest on."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.evidence.decisions import NO_ANSWER, conclusion, grounds, stated_usage
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.plugin.deciding.extensions import extensions_of
from scrapy_robotspec.plugin.deciding.response_usage import HEADER
from scrapy_robotspec.plugin.evidence.state_archive import StateArchive
from scrapy_robotspec.plugin.fetching.robots_request import META_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.evidence.recorder import Recorder
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.deciding.observer import Stage
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.settings.tokens import Tokens
    from scrapy_robotspec.protocol.models import Verdict

#: Max texts of one kind that are kept.
_MAX_TEXTS = 1000


class _Passed(NamedTuple):
    """A request that was let through."""

    decision: Decision
    found: Resolved | None
    tokens: Tokens
    at: float
    """When it was decided (epoch seconds)."""
    more: dict[str, Any]
    """As :meth:`EvidenceObserver._more` returned it."""


class EvidenceObserver:
    """The :class:`DecisionObserver` of a crawl with ``ROBOTSPEC_EVIDENCE``."""

    def __init__(self, recorder: Recorder, robots: CrawlRobots) -> None:
        self._recorder = recorder
        self._policy = robots.policy
        self._tokens = robots.tokens
        self._edition = robots.settings.edition.name
        self._states = StateArchive(recorder)
        self.on_fetch_done = self._states.on_fetch_done
        # Texts, by what they say:
        self._askers: dict[Tokens, str] = {}
        self._conclusions: dict[int, tuple[Verdict, str]] = {}
        self._passed: WeakKeyDictionary[Request, _Passed] = WeakKeyDictionary()

    def open(self) -> None:
        self._recorder.open()

    def close(self) -> None:
        self._recorder.close()

    # --- decisions

    def on_decision(
        self, request: Request, decision: Decision, found: Resolved | None, stage: Stage
    ) -> None:
        # hot path: a line is put together from texts that change seldom
        tokens = self._tokens.decided(request)
        at = time.time() if decision.time is None else decision.time
        more = self._more(request, decision, found, tokens)
        is_unanswered = found is None and decision.reason == "unreachable"
        self._log(
            f"{self._question(request.url, stage, tokens, at)},{self._conclusion(decision)},"
            f"{_no_answer(decision) if is_unanswered else self._grounds(found)}",
            more,
        )
        if decision.allowed and stage in ("request", "final_url"):
            self._passed[request] = _Passed(decision, found, tokens, at, more)

    def on_exempt(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt") and META_KEY not in request.meta:
            said = {"allowed": True, "reason": "dont_obey_robotstxt"}
            self._log(self._question(request.url, "request", (), time.time()), said)

    def on_usage(self, request: Request, response: Response, decision: Decision | None) -> None:
        passed = self._passed.pop(request, None)
        if passed is None or (decision is None and HEADER not in response.headers):
            return
        header = b", ".join(response.headers.getlist(HEADER)).decode("latin-1")
        said = conclusion(passed.decision)
        if decision is not None:
            said |= {**conclusion(decision), "group": said["group"]}
        said |= {**passed.more, "rules_time": passed.at, "header": header}
        question = self._question(request.url, "response", passed.tokens, time.time())
        self._log(f"{question},{self._grounds(passed.found)}", said)

    def _log(self, text: str, more: Mapping[str, Any]) -> None:
        self._recorder.add_decision(f"{{{text},{_inner(more)}}}" if more else f"{{{text}}}")

    def _question(self, url: str, stage: str, tokens: Tokens, at: float) -> str:
        """The beginning of a line: when was what decided for whom."""
        asker = self._askers.get(tokens)
        if asker is None:
            if len(self._askers) >= _MAX_TEXTS:
                self._askers.clear()
            said = {"tokens": tokens, "edition": self._edition}
            asker = self._askers[tokens] = _inner(said)
        url = json.dumps(without_user_info(url))
        return f'"type":"decision","time":{at!r},"stage":"{stage}","url":{url},{asker}'

    def _conclusion(self, decision: Decision) -> str:
        """The decision as JSON members; many requests share a verdict."""
        verdict = decision.verdict
        if verdict is None or verdict.reason != decision.reason:
            return _inner(conclusion(decision))
        kept = self._conclusions.get(id(verdict))
        if kept is None:
            if len(self._conclusions) >= _MAX_TEXTS:
                self._conclusions.clear()
            # Kept with its verdict, so that no other one can get the same id.
            kept = (verdict, _inner(conclusion(decision)))
            self._conclusions[id(verdict)] = kept
        return kept[1]

    def _grounds(self, found: Resolved | None) -> str:
        """The state of the origin as JSON members, with the ids of its records."""
        if found is None or found.record is None:
            return _inner(grounds(None))
        archived = self._states.find(found.record)
        values = found.action, found.unreachable, found.fetched_at, found.provenance[:2]
        if archived.found != values:
            archived.found = values
            archived.grounds = _inner({**grounds(found), **archived.references()})
        return archived.grounds

    def _more(
        self, request: Request, decision: Decision, found: Resolved | None, tokens: Tokens
    ) -> dict[str, Any]:
        """Override and usage preferences, which few requests have."""
        override = None if decision.origin is None else self._policy.override(decision.origin)
        more = {} if override is None else {"override": override.kinds}
        if decision.allowed or decision.usage is not None:
            extensions = None
            if found is not None:
                extensions = extensions_of(found, tokens) if found.extensions is not None else None
            elif decision.origin is not None:
                extensions = self._policy.override_extensions(decision.origin, request)
            if extensions is not None:
                more |= stated_usage(extensions.usage_of(request.url).preferences)
        return more


def _no_answer(decision: Decision) -> str:
    """The grounds of a refusal because a request could wait no longer."""
    return _inner({**grounds(None, otherwise=NO_ANSWER), "failure": decision.failure})


def _inner(values: Mapping[str, Any]) -> str:
    """The members of a JSON object, without its braces."""
    return dumps(values)[1:-1]
