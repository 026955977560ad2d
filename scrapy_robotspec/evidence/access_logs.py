"""Access logs: lines of several formats as requests with a time.

Common and Combined log format (also with the virtual host in front), CDXJ, and JSON lines.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from scrapy_robotspec.evidence.log_lines import is_time


class Request(NamedTuple):
    """One request of a log."""

    time: float
    """Epoch seconds."""
    resolution: float
    """The request came at most this much later (seconds, up to 1.0)."""
    url: str
    """Absolute; ``//host/path`` where the scheme is unknown, ``///path`` where the host is, too."""


#: The client's part, the time and its zone, and the request line with its escapes.
_COMMON = re.compile(
    rb"(.*?) ?\[(\d\d/[A-Z][a-z]{2}/\d{4}:[\d:]{8})(?: ([+-]\d{4}))?\]"
    rb' "((?:[^"\\]|\\.)*)"'
)
_ESCAPE = re.compile(rb'\\(x[0-9A-Fa-f]{2}|["\\])')
_PORTS = {"80": "http:", "443": "https:"}
#: A JSON object; in an index before it the seconds, and milliseconds or none.
_JSON = re.compile(rb"(?:\S+ (\d{14})(\d{3})? )?(\{.*)")
#: Date and time, fraction of a second, zone.
_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?")


def parse(line: bytes) -> Request | None:
    """The request of *line*; None for one without a URL.

    Raises ``ValueError`` for a line of another format, and ``OverflowError`` or ``RecursionError``
    for absurd values.
    """
    if found := _JSON.match(line):
        return _parse_json(found)
    if found := _COMMON.match(line):
        return _parse_common(found)
    if line.startswith(b"!"):  # a head of an index
        return None
    raise ValueError("neither Common or Combined log format nor CDXJ nor JSON with time and url")


@lru_cache(maxsize=64)
def _epoch(text: str, layout: str, zone: str | None = None) -> float:
    """Epoch seconds of a time as *layout* says; without a zone it is UTC."""
    return datetime.strptime(f"{text}{zone or 'Z'}", f"{layout}%z").timestamp()


# --- Common and Combined log format


def _parse_common(found: re.Match[bytes]) -> Request | None:
    head, time, zone, request = found.groups(b"")
    target = _target(_ESCAPE.sub(_unescape, request).decode("utf-8", "surrogateescape"))
    if target is None:
        return None
    if target.startswith("/"):
        target = _host(head) + target
    return Request(_epoch(time.decode(), "%d/%b/%Y:%H:%M:%S", zone.decode()), 1.0, target)


def _unescape(found: re.Match[bytes]) -> bytes:
    text = found[1]
    return bytes([int(text[1:], 16)]) if len(text) > 1 else text


def _target(request: str) -> str | None:
    """The path or URL of a request line; None without one."""
    method, _, rest = request.partition(" ")
    target = rest.rpartition(" ")[0] if " HTTP/" in rest else rest
    if not method.isalpha():
        return None
    return target if target.startswith(("/", "http://", "https://")) else None


def _host(head: bytes) -> str:
    """The virtual host before the client's address, as a URL's beginning.

    A path may begin with two slashes (RFC 9112 section 3.2.1), so an unknown host is an empty one.
    """
    words = head.split(b" ")
    if len(words) < 4 or words[2] != b"-" or words[1] == b"-":
        return "//"
    host, _, port = words[0].decode("latin-1").rpartition(":")
    if not port.isdecimal():
        return f"//{words[0].decode('latin-1')}"
    return f"{_PORTS[port]}//{host}" if port in _PORTS else f"//{host}:{port}"


# --- CDXJ and JSON lines


def _parse_json(found: re.Match[bytes]) -> Request:
    """An object with ``url``, and ``time`` (epoch seconds or ISO 8601) where no index has it.

    Times without a zone are UTC.
    """
    digits, millis, text = found.groups()
    values = json.loads(text)
    time, url = values.get("time"), values.get("url")
    if not isinstance(url, str):
        raise ValueError("no url")
    if digits is not None:
        seconds = _epoch(digits.decode(), "%Y%m%d%H%M%S") + int(millis or 0) / 1000
        return Request(seconds, 0.001 if millis else 1.0, url)
    if isinstance(time, str) and (iso := _ISO.fullmatch(time)):
        whole, fraction, zone = iso.groups()
        seconds = _epoch(whole.replace(" ", "T"), "%Y-%m-%dT%H:%M:%S", zone)
        return Request(seconds + float(fraction or 0), 0.0 if fraction else 1.0, url)
    if not is_time(time):
        raise ValueError("no time")
    return Request(float(time), 0.0 if isinstance(time, float) else 1.0, url)
