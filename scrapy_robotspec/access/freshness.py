"""The lifetime of a response (CAC-01, CAC-03), and its Retry-After (FET-11).

After RFC 9111 and RFC 9110. No value raises: a field that cannot be read counts as absent.
"""

from __future__ import annotations

import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: One Cache-Control directive: a token, and maybe a value, quoted or not.
_DIRECTIVE = re.compile(r'([^\s,="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?')

#: Greater numbers of seconds count as this (RFC 9111, 1.2.2).
_LONG = 2**31


def lifetime(
    headers: Mapping[str, str], now: float, *, ttl: float, min_ttl: float, max_ttl: float
) -> float:
    """Seconds for which a response with *headers*, received at *now*, is fresh.

    *ttl* where the headers name no lifetime; theirs is kept within *min_ttl* and *max_ttl*.
    """
    explicit = _explicit(headers, now)
    if explicit is None:
        return ttl
    return min(max(explicit, min_ttl), max_ttl)


def _explicit(headers: Mapping[str, str], now: float) -> float | None:
    """The lifetime that *headers* name; 0 or less: not to be kept. None: they name none."""
    directives = parse_cache_control(headers.get("cache-control", ""))
    # "no-cache=field" concerns single fields only (RFC 9111, 5.2.2.4).
    if "no-store" in directives or directives.get("no-cache") == "":
        return 0.0
    age = _seconds(headers.get("age")) or 0
    for name in ("s-maxage", "max-age"):
        seconds = _seconds(directives.get(name))
        if seconds is not None:
            return seconds - age
    expires = headers.get("expires")
    if expires is None:
        return None
    until = _date(expires)
    if until is None:  # RFC 9111, 5.3: an invalid date, "0" above all, lies in the past
        return 0.0
    return until - _sent(headers, now) - age


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from *now* until a Retry-After ends; None without one."""
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _seconds(value)
    if seconds is not None:
        return float(seconds)
    until = _date(value)
    return None if until is None else max(0.0, until - _sent(headers, now))


def parse_cache_control(value: str) -> dict[str, str]:
    """Directives of a Cache-Control field by lower-case name."""
    directives: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value):
        directives.setdefault(name.lower(), quoted or plain)
    return directives


def _sent(headers: Mapping[str, str], now: float) -> float:
    """The time of the response by the sender's clock, which its other dates refer to."""
    date = _date(headers.get("date", ""))
    return now if date is None else date


def _seconds(value: str | None) -> int | None:
    value = (value or "").strip()
    if not (value.isascii() and value.isdigit()):
        return None
    return min(int(value), _LONG) if len(value) <= 10 else _LONG


def _date(value: str) -> float | None:
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # a date of HTTP without a zone is GMT too
            date = date.replace(tzinfo=timezone.utc)
        return date.timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
