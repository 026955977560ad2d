"""Decisions and states of a crawl as lines, which a replay compares.

A state names the archive records it came from: the exchanges of a fetch and the state before, or
the body that was found in a shared store.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy_robotspec.access.outcome import BLANKED, blank_user_info
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.access.record import RobotsRecord, read_record
from scrapy_robotspec.evidence.log_lines import Members, Stage, dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.overrides import HostTable
    from scrapy_robotspec.access.resolved import Resolved

#: Values of ``policy`` besides those of :class:`~scrapy_robotspec.access.policy.Action`.
OVERRIDE, NO_ANSWER = "override", "no_answer"
#: Max logged length of a rule (characters).
_MAX_RULE = 200


class State(NamedTuple):
    """A record of an origin, and where it comes from."""

    id: str
    record: RobotsRecord
    """Read from a log it has no body."""
    time: float
    """When the crawl took it over (epoch seconds)."""
    body_record: str | None = None
    """Id of the archive record that contains the body; None: none."""
    is_left_out: bool = False
    """Whether that record lacks the body (SAF-06); not in the line."""
    body_sha256: str = ""
    """SHA-256 of the body, read from a log; empty for an empty one."""
    source: Literal["fetch", "store"] = "store"
    """Whether a fetch of this crawl led to it, or a store had it."""
    before: str | None = None
    """Id of the state that the fetch changed."""
    exchanges: tuple[str, ...] = ()
    """Ids of the archive records of the fetch, in order."""
    failure: tuple[str | None, bool] | None = None
    """How the fetch failed, and whether between us and the origin; no words for a response."""

    def to_line(self) -> str:
        """The line of the log."""
        members = {"type": "state", **self._asdict(), "record": self.record.header()}
        del members["is_left_out"]
        return dumps({**members, "body_sha256": digest_of(self.record.body)})

    @classmethod
    def from_values(cls, given: Members) -> State:
        """Read the values of :meth:`to_line`. Raises one of ``DAMAGE``."""
        record = read_record(given["record"])
        members = {name: given[name] for name in cls._fields if name in given}
        return cls(**members | {"record": record, "exchanges": tuple(given["exchanges"])})


def digest_of(body: bytes) -> str:
    """SHA-256; empty for an empty body."""
    return sha256(body).hexdigest() if body else ""


class LoggedDecision(NamedTuple):
    """A decision that applies to a request."""

    number: int
    """From 1."""
    time: float
    """When it was made (epoch seconds)."""
    stage: Stage
    url: str
    tokens: tuple[str, ...]
    decision: Decision | None = None
    """None: the request needs no robots.txt."""
    found: Resolved | None = None
    """The rules that decided; None: an override, or the request could wait no longer."""
    state: State | None = None
    """Their archived state."""
    usage: Mapping[str, str] | None = None
    """The usage preferences of the page by its file, if it states any."""
    rules_time: float | None = None
    """When the rules decided, where the page's header followed (epoch seconds)."""
    header: str | None = None
    """``Content-Usage`` of the page."""


class DecisionLines:
    """Makes the line of each decision; called in the recorder's thread.

    *edition*: the name of the crawl's. *overrides*: the user's, which lines name.
    """

    def __init__(self, edition: str, overrides: HostTable | None) -> None:
        self._edition = edition
        self._overrides = overrides
        self._basis: tuple[object, ...] | None = None
        """Grounds of the latest decision."""
        self._shared = ""
        """Members of its line, as JSON: the next one may share them."""

    def __call__(self, logged: LoggedDecision) -> str:
        # hot path: most requests of an origin are decided as the one before
        number, at, stage, url, tokens, decision, found, state, usage, _, header = logged
        basis: tuple[object, ...] | None = None
        if decision is not None and state is not None and not usage and header is None:
            basis = state.id, decision.allowed, decision.verdict, found, tokens
        if basis is None or basis != self._basis:
            members = members_of(logged, self._edition, self._overrides)
            self._basis, self._shared = basis, dumps(members)
        return (
            f'{{"type":"decision","number":{number},"time":{at!r},'
            f'"stage":"{stage}","url":{dumps(blank_user_info(url))},{self._shared[1:]}'
        )


def members_of(logged: LoggedDecision, edition: str, overrides: HostTable | None) -> dict[str, Any]:
    """The members of a line that other requests may share."""
    decision, state = logged.decision, logged.state
    members: dict[str, Any] = {"tokens": logged.tokens, "edition": edition}
    if decision is None:
        return members | {"allowed": True, "reason": EXEMPT}
    members |= {**conclusion(decision), **_grounds(logged.found, decision)}
    if overrides and decision.origin and (override := overrides.find(decision.origin)):
        members["override"] = override.kinds
    if state is not None:
        members |= {"state": state.id, "record": state.body_record}
        if state.is_left_out and members["rule"] is not None:
            members["rule"] = BLANKED  # a part of a body that is not archived (SAF-06)
    if logged.usage:
        members["usage"] = dict(logged.usage)
    if logged.header is not None:
        members |= {"rules_time": logged.rules_time, "header": logged.header}
    return members


def conclusion(decision: Decision) -> dict[str, Any]:
    """The decision, and the line that decided."""
    verdict, usage = decision.verdict, decision.usage
    rule = verdict and verdict.rule
    members: dict[str, Any] = {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "line": rule and rule.line,
        "rule": rule and rule.text[:_MAX_RULE],
        "group": verdict and verdict.group,
    }
    if verdict and verdict.resolved:
        members["resolved"] = verdict.resolved
    if usage is not None:
        members |= {"line": usage.line, "rule": None, "label": usage.label}
    return members


def _grounds(found: Resolved | None, decision: Decision) -> dict[str, Any]:
    """The state of the origin that *decision* rests on."""
    if found is not None:
        return {
            "policy": found.action.value,
            "outcome": found.outcome,
            "status": found.status,
            "stale": found.unreachable and found.record.fetched_at is not None,
        }
    members = {"policy": OVERRIDE, "outcome": None, "status": None, "stale": False}
    if decision.reason == "unreachable":  # it could wait no longer
        members |= {"policy": NO_ANSWER, "failure": decision.failure or ""}
    return members
