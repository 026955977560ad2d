"""The lifetime of a response (CAC-01, CAC-03), and its Retry-After (FET-11).

After RFC 9111 and RFC 9110. No value raises; an invalid lifetime is the shortest.
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

#: The value of a directive with different values.
_CONFLICT = "?"
#: Between two dates of a repeated field.
_BETWEEN_DATES = re.compile(r",\s*(?=[A-Za-z]{3,9},|[A-Za-z]{3} [A-Za-z]{3})")

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
    """The rest of the lifetime that *headers* state, or None.

    0 or less where the response is not to be kept, or its lifetime is invalid.
    """
    directives = parse_cache_control(headers.get("cache-control", ""))
    # "no-cache=field" concerns single fields only (RFC 9111, 5.2.2.4).
    if "no-store" in directives or directives.get("no-cache") in ("", _CONFLICT):
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in directives:
            seconds = _seconds(directives[name])
            return 0.0 if seconds is None else seconds - _age(headers, now)
    expires = headers.get("expires")
    if expires is None:
        return None
    dates = set(_BETWEEN_DATES.split(expires))
    until = _date(expires) if len(dates) == 1 else None
    if until is None:  # RFC 9111, 5.3: an invalid date, "0" above all, lies in the past
        return 0.0
    return until - _sent(headers, now) - _age(headers, now)


def _age(headers: Mapping[str, str], now: float) -> float:
    """Seconds since the response left its server (RFC 9111, 4.2.3)."""
    stated = _seconds(headers.get("age", "").partition(",")[0]) or 0
    return max(stated, now - _sent(headers, now))


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
    """Directives of a Cache-Control field by lower-case name.

    One that has different values has none that can be read.
    """
    directives: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value):
        key, stated = name.lower(), quoted or plain
        directives[key] = stated if directives.get(key, stated) == stated else _CONFLICT
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
