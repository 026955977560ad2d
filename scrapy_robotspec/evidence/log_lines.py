"""Lines of the decision log: JSON objects in a chain of hashes.

A hash is the SHA-256 of the hash before it (64 zeros for the first line) and of the line's own text
up to its hash. So no line can be changed, removed, added or moved without a trace.

A state names the archive records it came from: the exchanges of a fetch and the state before, or
the body that was found in a shared store.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, NoReturn, get_args

from scrapy_robotspec.access.outcome import BLANKED, blank_user_info
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.access.record import RobotsRecord, read_record
from scrapy_robotspec.errors import RobotSpecError

if TYPE_CHECKING:
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.overrides import HostTable
    from scrapy_robotspec.access.resolved import Resolved

#: The members of a line, and of an object in it.
Members = Mapping[str, Any]
#: Where a decision applies: before a download, to the URL that a download handler was redirected
#: to, to a request inside a browser, to a page by the usage preferences of its header, to a URL
#: that a spider asked about, or nowhere (dry run).
Stage = Literal["request", "final_url", "browser", "response", "question", "dry_run"]


class EvidenceError(RobotSpecError):
    """A log line or an archive record is missing or was changed."""


class NotCheckableError(EvidenceError):
    """A line is neither right nor wrong.

    A body was left out of the archive on purpose (SAF-06), or other rules decided.
    """


#: Errors that damaged or hostile values cause (SAF-05).
DAMAGE = (
    RobotSpecError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)

#: Version of the log's format; no other is read.
FORMAT = 5
#: Version of the rules by which decisions are made: policy of statuses, doubt, kinds of files,
#: matching. Raise it once between two releases, with the first change by which archived responses
#: lead to another state or decision: ``test_folders.py`` fails where it is due. A replay takes no
#: log of another version for wrong. Logs without one have version 1.
RULES = 2
#: The hash before the first line.
NO_HASH = "0" * 64
#: Max length of a line (bytes). The first one contains the texts of ``ROBOTSPEC_OVERRIDES``.
MAX_LINE = 2**22

_BEFORE_HASH, _AFTER_HASH = b',"hash":"', b'"}'
_HASH_LENGTH = len(_BEFORE_HASH) + len(NO_HASH) + len(_AFTER_HASH)

dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


# --- the chain


def seal(text: str, before: str) -> tuple[bytes, str]:
    """The line for a JSON object that follows *before*, and its hash.

    Raises ``ValueError`` for a line that is too long.
    """
    if len(text) > MAX_LINE - _HASH_LENGTH:
        raise ValueError(f"a log line of {len(text)} characters")
    start = text[:-1]
    digest = sha256((before + start).encode("ascii")).hexdigest()
    return f'{start},"hash":"{digest}"}}\n'.encode("ascii"), digest


class Line(NamedTuple):
    """One line that is as it was written."""

    number: int
    """From 1."""
    values: Members
    hash: str
    size: int
    """Bytes."""


def read_lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a log.

    A last line that is incomplete, as a killed process leaves it, ends the log. Raises
    ``EvidenceError`` at the first line that is not as it was written.
    """
    before, number = NO_HASH, 0
    while text := file.readline(MAX_LINE + 1):
        number += 1
        read = _read(text, before)
        if read is None:
            is_cut = not text.endswith(b"\n") and len(text) <= MAX_LINE
            if is_cut and _AFTER_HASH not in text[text.rfind(_BEFORE_HASH) :]:
                return
            raise EvidenceError(f"line {number} is not as it was written: the evidence was changed")
        values, before = read
        yield Line(number, values, before, len(text))


def _read(line: bytes, before: str) -> tuple[Members, str] | None:
    """Values and hash of a line; None: it does not follow."""
    whole = line.removesuffix(b"\n") + b"\n"
    try:
        text = whole[: -_HASH_LENGTH - 1].decode("ascii") + "}"
        sealed, digest = seal(text, before)
    except ValueError:
        return None
    if sealed != whole:
        return None
    try:
        values: Members = loads(text)
    except (ValueError, RecursionError):
        return {}, digest
    return values, digest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"invalid number: {constant}")


loads = json.JSONDecoder(parse_constant=_refuse).decode


# --- the members of a line


def is_time(value: Any) -> bool:
    """Whether *value* is a number of seconds that a date can have."""
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < 1e11


#: Kinds of values, by their type or a test; a ``?`` behind a kind: None is possible, too.
_KINDS: Mapping[str, type | Callable[[Any], bool]] = {
    "text": str,
    "texts": lambda value: type(value) is list and all(type(each) is str for each in value),
    "object": dict,
    "flag": bool,
    "count": lambda value: type(value) is int and 0 <= value < 2**63,
    "time": is_time,
    "number": float,
    "stage": lambda value: value in get_args(Stage),
    "source": lambda value: value in ("fetch", "store"),
}
#: The members that a reader relies on, by type of line; the first two name any line.
_MEMBERS = {
    kind: tuple(each.split(":") for each in f"url:text? id:text? {members}".split())
    for kind, members in {
        "run": "format:count rules:count? run:text time:time software:text versions:object? "
        "operator:text? timestamp:flag? settings:object",
        "record": "id:text kind:text url:text began:time? time:time offset:count length:count "
        "sha256:text",
        "state": "id:text time:time source:source record:object body_record:text? "
        "body_sha256:text before:text? exchanges:texts",
        "decision": "number:count time:time stage:stage url:text tokens:texts allowed:flag "
        "reason:text policy:text? state:text? rules_time:time? header:text?",
        "sent": "time:time decision:count status:count? seconds:time",
        "answered": "time:time decision:count status:count",
        "gap": "time:time lost:count",
        "clock": "time:time jump:number",
        "end": "time:time decisions:count sent:count states:count records:count lost:count "
        "archive:count requests:object?",
    }.items()
}
#: Names of the counts in the last line, by kind of line.
COUNTED = {"decision": "decisions", "sent": "sent", "state": "states", "record": "records"}


def check_members(values: Members) -> None:
    """Raise ``EvidenceError`` for a line whose members cannot be relied on."""
    kind = values.get("type")
    if kind not in _MEMBERS:
        raise EvidenceError("it has no type that is known")
    for name, wanted in _MEMBERS[kind]:
        value, test = values.get(name), _KINDS[wanted.rstrip("?")]
        is_right = type(value) is test if isinstance(test, type) else test(value)
        if not is_right and not (value is None and wanted.endswith("?")):
            raise EvidenceError(f"{name} of a {kind} has a wrong value")


# --- states and decisions

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


def members_of(logged: LoggedDecision, edition: str, overrides: HostTable | None) -> Members:
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


def conclusion(decision: Decision) -> Members:
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


def _grounds(found: Resolved | None, decision: Decision) -> Members:
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
