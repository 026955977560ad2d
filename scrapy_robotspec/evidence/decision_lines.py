"""Decisions of a crawl, and their lines in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.evidence.log_lines import NO_ANSWER, conclusion, dumps, grounds
from scrapy_robotspec.evidence.warc import BLANKED, blank_user_info

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.overrides import HostTable, Override
    from scrapy_robotspec.evidence.log_lines import Stage
    from scrapy_robotspec.evidence.states import State
    from scrapy_robotspec.lookup import Resolved


class LoggedDecision(NamedTuple):
    """A decision that applies to a request."""

    number: int
    """From 1."""
    time: float
    """When it was made (epoch seconds)."""
    stage: Stage
    url: str
    tokens: tuple[str, ...]
    decision: Decision | None
    """None: the request needs no robots.txt."""
    found: Resolved | None
    """The rules that decided."""
    state: State | None
    """Their archived state."""
    more: Mapping[str, Any]
    """Further members of the line."""


class DecisionLines:
    """Makes the line of each decision; called in the recorder's thread.

    *edition*: the name of the crawl's. *overrides*: the user's, which lines name.
    """

    def __init__(self, edition: str, overrides: HostTable[Override] | None) -> None:
        self._edition = edition
        self._overrides = overrides
        self._basis: tuple[object, ...] = ()
        """Grounds of the latest decision."""
        self._shared = ""
        """Members of its line, as JSON: the next one may share them."""

    def __call__(self, logged: LoggedDecision) -> str:
        # hot path: most requests of an origin are decided as the one before
        number, at, stage, url, tokens, decision, found, state, more = logged
        if state is None or decision is None or more:
            rest = dumps(self._members(logged))
        else:
            basis = state.id, decision.allowed, decision.verdict, found, tokens
            if self._basis != basis:
                self._basis, self._shared = basis, dumps(self._members(logged))
            rest = self._shared
        return (
            f'{{"type":"decision","number":{number},"time":{at!r},'
            f'"stage":"{stage}","url":{dumps(blank_user_info(url))},{rest[1:]}'
        )

    def _members(self, logged: LoggedDecision) -> dict[str, Any]:
        """The members of a line that other requests may share."""
        decision, found, state = logged.decision, logged.found, logged.state
        members: dict[str, Any] = {"tokens": logged.tokens, "edition": self._edition}
        if decision is not None:
            members |= conclusion(decision)
            if found is None and decision.reason == "unreachable":  # it could wait no longer
                members |= grounds(None, otherwise=NO_ANSWER)
                members["failure"] = blank_user_info(decision.failure or "")
            else:
                members |= grounds(found)
            if self._overrides and decision.origin is not None:
                override = self._overrides.find(decision.origin)
                if override is not None:
                    members["override"] = override.kinds
        if state is not None:
            members |= {"state": state.id, "record": state.body_record}
            if state.is_left_out and members["rule"] is not None:
                members["rule"] = BLANKED  # a part of a body that is not archived (SAF-06)
        return {**members, **logged.more}
