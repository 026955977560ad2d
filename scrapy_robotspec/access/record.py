"""The stored record of one origin, and its form as bytes.

A record holds the last answer and the failures since; ``policy.py`` decides what they are worth.
Nothing depends on a crawler's product token (CAC-04), so one record serves every crawler. A store
may hold anything: torn, foreign and other versions' data read as None.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass, field, fields, replace
from typing import Any

from scrapy_robotspec.access.origin import DEFAULT_PORTS, Origin
from scrapy_robotspec.access.outcome import DOUBT, Hop, Meaning
from scrapy_robotspec.access.reasons import NO_FILE_BUT, printable

#: First bytes of a record. The last one is its version: raise it with every change that an older
#: reader would misunderstand.
MAGIC = b"RSPC\x03"
#: A longer record is garbage, and would be a trap for our memory (bytes, uncompressed).
_MAX_SIZE = 2**26


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """An origin's last response and the failures since (times: epoch seconds)."""

    origin: Origin

    # --- the last answer that was a result; absent where fetched_at is None
    meaning: Meaning | None = None
    """Meaning of the answer to the process that fetched it; never ``UNREACHABLE``."""
    status: int | None = None
    body: bytes = field(default=b"", repr=False)
    """Bytes of the file; empty unless the answer meant rules."""
    truncated: bool = False
    """The file was longer than what is kept (FMT-12)."""
    doubt: str | None = None
    """Why the answer may be none of the site's, as ``HTML page`` (FET-20); None: no doubt."""
    hops: tuple[Hop, ...] = ()
    """The redirects on the way to it; where there was no result yet, those of the last attempt."""
    fetched_at: float | None = None
    expires_at: float | None = None
    content_type: str = ""
    agent: str | None = None
    """Product name of the User-Agent that the answer depends on (CAC-04); None: on none."""

    # --- failures since that answer
    unreachable_since: float | None = None
    """Start of the outage: its first failure that no gap in the attempts separates from now. None
    while a temporary status stands (FET-19)."""
    failures: int = 0
    unanswered: int = 0
    """Latest failures in a row without any HTTP answer."""
    temporary: int = 0
    """Latest failures in a row that were temporary statuses (FET-19)."""
    temporary_since: float | None = None
    """Time of the first of them."""
    next_attempt: float | None = None
    failure: str | None = None
    """Cause of the last failure, in one short line."""
    failure_status: int | None = None
    pages_answered_at: float | None = None
    """When a page of the origin last answered below 500 while its robots.txt did not (FET-12)."""
    failed_at: float | None = None
    """When the last failure happened."""
    redirect_error: str | None = None
    """Why the redirect chain of the last answer counts as a 404."""
    local: bool = False
    """Every failure happened between us and the origin; see :class:`FetchResult`."""

    @property
    def doubt_in_words(self) -> str | None:
        """``no robots.txt: HTML page``, or a status (FET-20).

        Redirects that led nowhere have their status and the cause.
        """
        if self.redirect_error is not None:
            return f"HTTP status {self.status}, {printable(self.redirect_error)}"
        if self.doubt is None or self.doubt.startswith("HTTP"):
            return self.doubt
        return NO_FILE_BUT + self.doubt

    @property
    def lifetime(self) -> float | None:
        """Seconds for which the answer is fresh; None without one."""
        if self.expires_at is None or self.fetched_at is None:
            return None
        return self.expires_at - self.fetched_at

    @property
    def has_failed(self) -> bool:
        """Whether the latest attempt failed."""
        return self.fetched_at is None or self.failed_at is not None

    @property
    def is_unreachable(self) -> bool:
        """Whether the latest attempt failed, and no copy decided.

        A fresh one does, and one that a temporary status leaves in use (FET-19).
        """
        is_fresh = self.expires_at is not None and (self.failed_at or 0.0) < self.expires_at
        return self.fetched_at is None or not (self.unreachable_since is None or is_fresh)

    @property
    def updated_at(self) -> float:
        """Time of the latest attempt in the record; 0 for none."""
        return max(self.fetched_at or 0.0, self.failed_at or 0.0)

    @property
    def rank(self) -> tuple[float, float]:
        """The record with the greater rank counts, among those of an origin.

        A failure hides no copy (CAC-04).
        """
        return self.fetched_at or 0.0, self.updated_at

    def after_pause(self, seconds: float) -> RobotsRecord:
        """The record with its failures *seconds* later, which no hold uses."""
        names = ("unreachable_since", "temporary_since", "failed_at")
        later = {name: at + seconds for name in names if (at := getattr(self, name)) is not None}
        return replace(self, **later)

    def header(self) -> dict[str, Any]:
        """The record without its body, as values that JSON can hold."""
        header: dict[str, Any] = {
            name: value for name in _PLAIN if (value := getattr(self, name)) != _DEFAULTS[name]
        }
        header["origin"] = [self.origin.scheme, self.origin.host, self.origin.port]
        if self.meaning is not None:
            header["meaning"] = self.meaning.value
        if self.hops:
            header["hops"] = [[hop.url, hop.status, hop.target] for hop in self.hops]
        return header

    def to_bytes(self) -> bytes:
        """The record as bytes that :meth:`from_bytes` reads."""
        text = json.dumps(self.header(), separators=(",", ":"), allow_nan=False).encode("ascii")
        return MAGIC + zlib.compress(text + b"\n" + self.body)  # it adds a checksum

    @classmethod
    def from_bytes(cls, data: object, origin: Origin | None = None) -> RobotsRecord | None:
        """The record that :meth:`to_bytes` wrote; None for anything else.

        With *origin*, None for a record of another one too; the record then shares this object.
        """
        if not isinstance(data, bytes):
            return None
        stream = zlib.decompressobj()
        try:
            plain = stream.decompress(data.removeprefix(MAGIC), _MAX_SIZE)
            text, _, body = plain.partition(b"\n")
            record = read_record(json.loads(text), body, origin)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError, zlib.error):
            return None
        is_whole = data.startswith(MAGIC) and stream.eof and not stream.unused_data
        return record if is_whole else None


#: Fields whose values are plain JSON, with their types as written above.
_PLAIN = {
    each.name: str(each.type)
    for each in fields(RobotsRecord)
    if str(each.type).startswith(("bool", "int", "float", "str"))
}
_DEFAULTS = {each.name: each.default for each in fields(RobotsRecord)}


def read_record(
    header: dict[str, Any], body: bytes = b"", origin: Origin | None = None
) -> RobotsRecord:
    """The record with a :meth:`RobotsRecord.header`.

    Raises ``KeyError``, ``TypeError``, ``ValueError`` or ``OverflowError`` for an invalid one, and
    with *origin* for that of another one.
    """
    values = {name: header[name] for name in _PLAIN if name in header}
    for name, value in values.items():
        written, given = _PLAIN[name], type(value).__name__
        if written.startswith("float"):  # a time
            is_valid = given in ("int", "float") and math.isfinite(value)
        else:
            is_valid = written.startswith(given)
        if not is_valid or (written == "int" and value < 0):  # a count; a status has any sign
            raise ValueError(name)
    scheme, host, port = header["origin"]
    named = Origin(scheme, host, port)
    has_url = scheme in DEFAULT_PORTS and (named.host, named.port) == (host, port)
    if not has_url or (origin is not None and origin != named):
        raise ValueError("origin")
    if not DOUBT.fullmatch(values.get("doubt", "HTML page")):
        raise ValueError("doubt")
    meaning = Meaning(header["meaning"]) if "meaning" in header else None
    hops = tuple(
        Hop(str(url), int(status), None if target is None else str(target))
        for url, status, target in header.get("hops", ())
    )
    record = RobotsRecord(origin or named, meaning=meaning, body=body, hops=hops, **values)
    answer = (meaning, record.status, record.fetched_at, record.expires_at)
    failure = (record.unreachable_since, record.failed_at, record.next_attempt)
    is_torn = answer.count(None) not in (0, len(answer)) or None in failure[failure.count(None) :]
    if is_torn or meaning is Meaning.UNREACHABLE:
        raise ValueError("an answer or a failure is incomplete")
    return record
