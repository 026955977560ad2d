"""States: a crawl's records of an origin, as log lines.

Each names the archive records it came from: the exchanges of a fetch and the state before, or the
body that was found in a shared store.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy_robotspec.access.exchange import Exchange, RedirectChain, result_of
from scrapy_robotspec.access.origin import without_user_info
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.record import RobotsRecord, read_record
from scrapy_robotspec.evidence.log_lines import EvidenceError, dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.evidence.run_settings import RunSettings

#: Why a chain without an error of its own counts as a 404 (FET-15): two probes decided.
PROBED = "server errors for missing pages"
#: The largest jitter: pauses between attempts are chosen between those for 0 and for this.
_MAX_JITTER = 1 - 2**-53


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
    def from_values(cls, given: Mapping[str, Any]) -> State:
        """Read the values of :meth:`to_line`. Raises one of ``DAMAGE``."""
        record = read_record(given["record"])
        members = {name: given[name] for name in cls._fields if name in given}
        time = given.get("time", record.updated_at)  # format 4 has none
        exchanges = tuple(given["exchanges"])
        return cls(**members | {"record": record, "time": time, "exchanges": exchanges})


class NotArchivedError(EvidenceError):
    """A body was left out of the archive on purpose (SAF-06)."""


def check_fetch(
    state: State, before: RobotsRecord | None, exchanges: Sequence[Exchange], settings: RunSettings
) -> None:
    """Raise ``EvidenceError`` unless a fetched state follows from *before* and *exchanges*."""
    record = state.record
    result = _fetch_result(state, exchanges, settings)
    policy = settings.policy_of(record.origin)
    early, late = (
        policy.apply(before, record.origin, result, record.updated_at, jitter)
        for jitter in (_MAX_JITTER, 0.0)
    )
    attempts = (early.next_attempt, record.next_attempt, late.next_attempt)
    times = sorted(each for each in attempts if each is not None)
    if len(times) == len(attempts):  # any pause between the two is one that the policy chooses
        late = replace(late, next_attempt=times[1])
    if (replace(late, body=b""), digest_of(late.body)) != (record, state.body_sha256):
        raise EvidenceError("the state does not follow from the archived exchanges")


def digest_of(body: bytes) -> str:
    """SHA-256; empty for an empty body."""
    return sha256(body).hexdigest() if body else ""


def _fetch_result(
    state: State, exchanges: Sequence[Exchange], settings: RunSettings
) -> FetchResult:
    """The result of the archived exchanges, followed as the crawl did."""
    chain = RedirectChain(state.record.origin, settings.redirects)
    last, probes = None, list(exchanges)
    while probes and last is None:
        exchange = probes.pop(0)
        if exchange.url != without_user_info(chain.url):  # archives contain no passwords
            raise EvidenceError(f"{exchange.url!a} is not the next URL of its redirect chain")
        last = None if chain.follow(exchange) else exchange
    error, local = state.failure or (None, False)
    if error is not None:
        return FetchResult(error=error, local=local, hops=chain.hops)
    if last is None:
        raise EvidenceError("the last response of the redirect chain is missing")
    redirect_error = PROBED if _are_misplaced(probes) else chain.error
    result = result_of(last, chain.hops, redirect_error, settings.max_size)
    return replace(result, local=local, agent=state.record.agent or result.agent)


def _are_misplaced(probes: Sequence[Exchange]) -> bool:
    """FET-15: a missing page answered 5xx, and the first page 2xx."""
    return len(probes) == 2 and probes[0].status >= 500 and 200 <= probes[1].status < 300
