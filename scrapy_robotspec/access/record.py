"""The stored record of one origin, and its form as bytes.

A record holds the last answer and the failures since; ``policy.py`` decides what they are worth.
Nothing depends on a crawler's product token (CAC-04), so one record serves every crawler. A store
may hold anything: torn, foreign and other versions' data read as None.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn

from scrapy_robotspec.access.origin import DEFAULT_PORTS, Origin
from scrapy_robotspec.access.outcome import DOUBT, Hop, Meaning

#: Raise this with every change that an older reader would misunderstand.
VERSION = 2

_MAGIC = b"RSPC"
#: Magic, version, CRC-32 of all that follows it, length of the JSON header, length of the body.
_FRAME = struct.Struct(">4sBIII")
_CHECKED = struct.Struct(">II")

#: Longer bodies are compressed (bytes).
_COMPRESS_ABOVE = 256
#: Longer bodies are garbage, and would be a trap for our memory (bytes).
_MAX_BODY = 2**26


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
    """Start of the outage: its first failure that no gap in the attempts separates from now."""
    failures: int = 0
    unanswered: int = 0
    """Latest failures in a row without any HTTP answer."""
    temporary: int = 0
    """Attempts that ended with 408, 425 or 429 (FET-19)."""
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
    def no_robots_txt(self) -> str | None:
        """The doubt in words: ``no robots.txt: HTML page`` (FET-20)."""
        return None if self.doubt is None else f"no robots.txt: {self.doubt}"

    @property
    def updated_at(self) -> float:
        """Time of the latest attempt in the record; 0 for none."""
        return max(self.fetched_at or 0.0, self.failed_at or 0.0)

    def without_failures(self) -> RobotsRecord:
        """The record with its last answer alone."""
        return replace(
            self,
            unreachable_since=None,
            failures=0,
            unanswered=0,
            temporary=0,
            next_attempt=None,
            failure=None,
            failure_status=None,
            pages_answered_at=None,
            failed_at=None,
            local=False,
        )

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
        return pack(self.header(), self.body)

    @classmethod
    def from_bytes(cls, data: object, origin: Origin | None = None) -> RobotsRecord | None:
        """The record that :meth:`to_bytes` wrote; None for anything else.

        With *origin*, None for a record of another one too; the record then shares this object.
        """
        unpacked = unpack(data) if isinstance(data, bytes) else None
        return None if unpacked is None else cls.from_header(*unpacked, origin)

    @classmethod
    def from_header(
        cls, header: dict[str, Any], body: bytes, origin: Origin | None = None
    ) -> RobotsRecord | None:
        """The record with a :meth:`header`; None for an invalid one."""
        try:
            return _read(header, body, origin)
        except (KeyError, TypeError, ValueError, OverflowError):
            return None


#: Fields whose values are plain JSON, with their types.
_TIME = (int, float)
_PLAIN: dict[str, tuple[type, ...]] = {
    "status": (int,),
    "truncated": (bool,),
    "doubt": (str,),
    "fetched_at": _TIME,
    "expires_at": _TIME,
    "content_type": (str,),
    "agent": (str,),
    "unreachable_since": _TIME,
    "failures": (int,),
    "unanswered": (int,),
    "temporary": (int,),
    "next_attempt": _TIME,
    "failure": (str,),
    "failure_status": (int,),
    "pages_answered_at": _TIME,
    "failed_at": _TIME,
    "redirect_error": (str,),
    "local": (bool,),
}
_DEFAULTS = {each.name: each.default for each in fields(RobotsRecord)}


def _read(header: dict[str, Any], body: bytes, origin: Origin | None) -> RobotsRecord:
    """The record of a header. Raises KeyError, TypeError or ValueError for a foreign header."""
    values = {name: header[name] for name in _PLAIN if name in header}
    for name, value in values.items():
        if type(value) not in _PLAIN[name]:
            raise TypeError(name)
        if float in _PLAIN[name]:
            values[name] = _finite(value)
    scheme, host, port = header["origin"]
    if scheme not in DEFAULT_PORTS or type(host) is not str or type(port) is not int:
        raise ValueError("origin")
    named = Origin(scheme, host, port)
    if origin is None and (named.host, named.port) == (host, port):  # else no URL has this host
        origin = named
    if origin != named:
        raise ValueError("origin")
    if not DOUBT.fullmatch(values.get("doubt", "HTML page")):
        raise ValueError("doubt")
    meaning = Meaning(header["meaning"]) if "meaning" in header else None
    hops = tuple(_read_hop(*hop) for hop in header.get("hops", ()))
    record = RobotsRecord(origin, meaning=meaning, body=body, hops=hops, **values)
    if not _is_complete(record):
        raise ValueError("incomplete")
    return record


def _read_hop(url: str, status: int, target: str | None) -> Hop:
    return Hop(str(url), int(status), None if target is None else str(target))


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _is_complete(record: RobotsRecord) -> bool:
    """Whether the answer and the failures are each complete or absent."""
    answer = (record.meaning, record.status, record.fetched_at, record.expires_at)
    failure = (record.unreachable_since, record.failed_at, record.next_attempt)
    return (
        (answer.count(None) in (0, len(answer)))
        and (failure.count(None) in (0, len(failure)))
        and record.meaning is not Meaning.UNREACHABLE
    )


# --- the envelope


def pack(header: dict[str, Any], body: bytes) -> bytes:
    """*header* (plain JSON values) and *body* as one bytes object."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    stored = zlib.compress(body) if len(body) > _COMPRESS_ABOVE else body
    rest = _CHECKED.pack(len(text), len(body)) + text + stored
    checksum = zlib.crc32(rest)
    return struct.pack(">4sBI", _MAGIC, VERSION, checksum) + rest


def unpack(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The header and body in *data*; None if it is invalid."""
    if len(data) < _FRAME.size:
        return None
    magic, version, checksum, text_length, body_length = _FRAME.unpack_from(data)
    if (magic, version) != (_MAGIC, VERSION) or zlib.crc32(data[9:]) != checksum:
        return None
    text = data[_FRAME.size : _FRAME.size + text_length]
    try:
        header = _decode(text.decode("ascii"))
        body = _body(data[_FRAME.size + text_length :], body_length)
    except (ValueError, zlib.error, RecursionError):
        return None
    return (header, body) if isinstance(header, dict) and body is not None else None


def _body(stored: bytes, length: int) -> bytes | None:
    if length > _MAX_BODY:
        return None
    if length > _COMPRESS_ABOVE:
        stored = zlib.decompressobj().decompress(stored, length + 1)
    return stored if len(stored) == length else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"invalid number: {constant}")


_decode = json.JSONDecoder(parse_constant=_refuse).decode  # json.loads() would make one each time
