"""States: a crawl's records of an origin, as log lines.

Each names the archive records it came from: the exchanges of a fetch and the state before, or the
body that was found in a shared store.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.exchange import result_of
from scrapy_robotspec.access.outcome import FetchResult, without_user_info
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.redirects import RedirectChain
from scrapy_robotspec.evidence.errors import EvidenceError
from scrapy_robotspec.evidence.log_lines import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.evidence.run_settings import RunSettings

#: Why a chain without an error of its own counts as a 404 (FET-15): two probes decided.
PROBED = "server errors for missing pages"
#: The largest jitter: pauses between attempts are chosen between those for 0 and for this.
_MAX_JITTER = 1 - 2**-53


@dataclass(frozen=True, slots=True)
class State:
    """A record of an origin, and where it comes from."""

    record: RobotsRecord
    """Read from an archive it has no body until :meth:`with_body`."""
    body_record: str | None = None
    """Id of the archive record that contains the body; None: none."""
    body_digest: str = ""
    """SHA-256 of the body."""
    fetched: bool = False
    """Whether it follows from a fetch of this crawl; else it was found in a store."""
    before: str | None = None
    """Id of the state that the fetch changed."""
    exchanges: tuple[str, ...] = ()
    """Ids of the archive records of the fetch, in order."""
    failure: tuple[str | None, bool] | None = None
    """How the fetch failed, and whether between us and the origin; no words for a response."""

    def to_line(self, id_: str) -> str:
        """The line of the log for this state, named *id_*."""
        return dumps(
            {
                "type": "state",
                "id": id_,
                "source": "fetch" if self.fetched else "store",
                "record": self.record.header(),
                "body_record": self.body_record,
                "body_sha256": self.body_digest,
                "before": self.before,
                "exchanges": self.exchanges,
                "failure": self.failure,
            }
        )

    @classmethod
    def from_json(cls, text: bytes) -> State:
        """Read :meth:`to_line`. Raises ``EvidenceError``."""
        try:
            given: dict[str, Any] = json.loads(text)
            record = RobotsRecord.from_header(given["record"], b"")
            failure = given["failure"]
            if record is None:
                raise ValueError("record")
            return cls(
                record,
                given["body_record"],
                given["body_sha256"],
                given["source"] == "fetch",
                given["before"],
                tuple(given["exchanges"]),
                None if failure is None else (failure[0], failure[1]),
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise EvidenceError(f"not a state ({type(error).__name__}: {error})") from error

    def with_body(self, body: bytes) -> State:
        """The state with its body. Raises ``EvidenceError`` for another body."""
        if sha256(body).hexdigest() != self.body_digest:
            raise EvidenceError("the body does not fit its digest")
        return replace(self, record=replace(self.record, body=body))


def check_fetch(
    state: State, before: RobotsRecord | None, exchanges: Sequence[Exchange], settings: RunSettings
) -> str | None:
    """The fault of a fetched state; None: it follows from *exchanges*."""
    record = state.record
    try:
        result = _fetch_result(state, exchanges, settings)
    except EvidenceError as error:
        return str(error)
    policy = settings.policy_of(record.origin)
    early, late = (
        policy.apply(before, record.origin, result, record.updated_at, jitter)
        for jitter in (_MAX_JITTER, 0.0)
    )
    if early.next_attempt is not None and late.next_attempt is not None:
        chosen = record.next_attempt
        if chosen is None or not early.next_attempt <= chosen <= late.next_attempt:
            return "the pause before the next attempt is not one that the policy chooses"
    if replace(late, next_attempt=record.next_attempt) != record:
        return "the state does not follow from the archived exchanges"
    return None


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
        return FetchResult(error=error, local=local, hops=tuple(chain.hops))
    if last is None:
        raise EvidenceError("the last response of the redirect chain is missing")
    redirect_error = PROBED if _are_misplaced(probes) else chain.error
    result = result_of(last, chain.hops, redirect_error, settings.max_size)
    return replace(result, local=local)


def _are_misplaced(probes: Sequence[Exchange]) -> bool:
    """FET-15: a missing page answered 5xx, and the first page 2xx."""
    return len(probes) == 2 and probes[0].status >= 500 and 200 <= probes[1].status < 300
