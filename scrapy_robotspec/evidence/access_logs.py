"""Access logs: lines of several formats as requests with a time.

Common and Combined log format (also with the virtual host in front), CDXJ, and JSON lines.
"""

from __future__ import annotations

import json
import re
from calendar import timegm
from collections.abc import Callable
from datetime import datetime, timezone
from functools import lru_cache
from typing import NamedTuple


class Request(NamedTuple):
    """One request of a log."""

    time: float
    """Epoch seconds."""
    resolution: float
    """The request came at most this much later (seconds)."""
    url: str
    """Absolute; ``//host/path`` where the scheme is unknown, ``/path`` where the host is."""


#: Times are smaller (epoch seconds).
_MAX_TIME = 1e12

#: Reads a line. None: no request for a URL. Raises ``ValueError`` for a line of another format.
Parse = Callable[[bytes], Request | None]

# --- Common and Combined log format

#: The part before the time, the time, and the request line with its escapes.
_COMMON = re.compile(rb'(.*?) ?\[([^\]]{19,32})\] "((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb'\\(x[0-9A-Fa-f]{2}|["\\])')
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_PORTS = {"80": "http:", "443": "https:"}


def parse_common(line: bytes) -> Request | None:
    """A line of the Common or Combined log format."""
    found = _COMMON.match(line)
    if found is None:
        raise ValueError("not a line of the Common or Combined log format")
    head, time, request = found.groups()
    if b"\\" in request:
        request = _ESCAPE.sub(_unescape, request)
    target = _target(request.decode("utf-8", "surrogateescape"))
    if target is None:
        return None
    if target.startswith("/"):
        target = _host(head) + target
    return Request(_common_time(time), 1.0, target)


def _unescape(found: re.Match[bytes]) -> bytes:
    text = found[1]
    return bytes([int(text[1:], 16)]) if len(text) > 1 else text


def _target(request: str) -> str | None:
    """The path or URL of a request line; None without one."""
    method, _, rest = request.partition(" ")
    target = rest.rpartition(" ")[0] if " HTTP/" in rest else rest
    if method == "CONNECT" or not method.isalpha():
        return None
    return target if target.startswith(("/", "http://", "https://")) else None


def _host(head: bytes) -> str:
    """The virtual host before the client's address, as a URL's beginning."""
    words = head.split(b" ")
    if len(words) < 4 or words[2] != b"-" or words[1] == b"-":
        return ""
    host, _, port = words[0].decode("latin-1").rpartition(":")
    if not port.isdecimal():
        return f"//{words[0].decode('latin-1')}"
    return f"{_PORTS[port]}//{host}" if port in _PORTS else f"//{host}:{port}"


@lru_cache(maxsize=64)
def _common_time(text: bytes) -> float:
    """Epoch seconds of ``31/Jan/2026:12:00:00 +0100``."""
    written, _, zone = text.decode("ascii").partition(" ")
    day, month, rest = written.split("/")
    year, hour, minute, second = map(int, rest.split(":"))
    if month not in _MONTHS:
        raise ValueError("unknown month")
    utc = timegm((year, _MONTHS[month], int(day), hour, minute, second))
    if not zone:
        return float(utc)
    offset = 3600 * int(zone[1:3]) + 60 * int(zone[3:5])
    return float(utc + offset if zone.startswith("-") else utc - offset)


# --- CDXJ

_CDXJ = re.compile(rb"(?:\S+) (\d{14,17}) (\{.*)")


def parse_cdxj(line: bytes) -> Request | None:
    """A line of a CDXJ index; its times are UTC."""
    found = _CDXJ.match(line)
    if found is None:
        if line.startswith((b"!", b" CDX", b"CDX ")):
            return None
        raise ValueError("not a line of a CDXJ index")
    url = json.loads(found[2]).get("url")
    if not isinstance(url, str):
        raise ValueError("no url")
    digits = found[1].decode("ascii")
    time = _digits_time(digits[:14])
    if len(digits) > 14:
        return Request(time + int(digits[14:]) / 10 ** (len(digits) - 14), 0.001, url)
    return Request(time, 1.0, url)


@lru_cache(maxsize=64)
def _digits_time(text: str) -> float:
    parsed = datetime.strptime(text, "%Y%m%d%H%M%S")
    return parsed.replace(tzinfo=timezone.utc).timestamp()


# --- JSON lines

#: Date and time, fraction of a second, zone.
_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?")


def parse_json(line: bytes) -> Request | None:
    """A JSON object with ``time`` (epoch seconds or ISO 8601) and ``url``."""
    values = json.loads(line)
    if not isinstance(values, dict) or not isinstance(values.get("url"), str):
        raise ValueError("no url")
    time, url = values.get("time"), values["url"]
    if isinstance(time, str):
        return _iso_request(time, url)
    if isinstance(time, bool) or not isinstance(time, int | float) or not abs(time) < _MAX_TIME:
        raise ValueError("no time")
    return Request(float(time), 0.0 if isinstance(time, float) else 1.0, url)


def _iso_request(time: str, url: str) -> Request:
    """A request at an ISO 8601 time, which without a zone is UTC."""
    found = _ISO.fullmatch(time)
    if found is None:
        raise ValueError("no time")
    whole, fraction, zone = found.groups()
    # Before 3.11 only some numbers of digits and no "Z" can be read at once.
    moment = datetime.fromisoformat(whole + (zone or "+00:00").replace("Z", "+00:00"))
    return Request(moment.timestamp() + float(fraction or 0), 0.0 if fraction else 1.0, url)


#: Formats by name.
FORMATS: dict[str, Parse] = {"common": parse_common, "cdxj": parse_cdxj, "json": parse_json}


def detect(lines: list[bytes]) -> str | None:
    """The format of most *lines*; None if unknown."""
    fits = {name: sum(_fits(parse, line) for line in lines) for name, parse in FORMATS.items()}
    best = max(fits, key=lambda name: fits[name])
    return best if fits[best] else None


def _fits(parse: Parse, line: bytes) -> bool:
    try:
        return parse(line) is not None
    except (ValueError, RecursionError):
        return False
