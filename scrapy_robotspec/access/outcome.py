"""Fetch results: their meaning (FET-02 to FET-20), lifetime (CAC-01) and Retry-After (FET-11).

Lifetimes and dates after RFC 9111 and RFC 9110: no value raises, an invalid one is the shortest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timezone
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.file_kind import FileKind, foreign_kind, has_lines

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Stands for a secret.
BLANKED = "blanked"
#: User info of the URLs in a text.
_USER_INFO = re.compile(r"//[^/\\?#\s\"<>]*@")


class Meaning(str, Enum):
    """The meaning of a response; also a value of ``ROBOTSPEC_STATUS_POLICY``."""

    RULES = "rules"
    ALLOW = "allow"
    DISALLOW = "disallow"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Hop:
    """A redirect response: followed, or the end of its chain.

    Both URLs are without user info: hops are stored and shown (LOC-10).
    """

    url: str
    """URL of the request."""
    status: int
    """HTTP status of the response."""
    target: str | None = None
    """URL that the ``Location`` names; None where it names none that can be read."""


def blank_user_info(text: str) -> str:
    """*text* with the user names and passwords in its URLs blanked (SAF-06)."""
    return _USER_INFO.sub(f"//{BLANKED}@", text) if "@" in text else text


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of one attempt to fetch a robots.txt, redirects included."""

    status: int | None = None
    """HTTP status of the last response; None: there was no HTTP response."""
    body: bytes = b""
    """Decoded body, at most a little longer than the size limit."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of the last response, with lower-case names."""
    hops: tuple[Hop, ...] = ()
    """Redirect responses, in order."""
    redirect_error: str | None = None
    """Why the chain counts as a 404 (FET-03, FET-07, FET-15, FET-18)."""
    error: str | None = None
    """Cause of a missing or unusable response, in one short line."""
    complete: bool = True
    """False: part of the response was lost (FET-14)."""
    truncated: bool = False
    """Our own size limit ended the download, which is not a failure (FMT-12)."""
    local: bool = False
    """The failure happened between us and the origin: proxy refused, no route, no DNS at all. It
    delays our own requests and is never written to a shared store."""
    agent: str = "-"
    """Product name of the User-Agent that the request had (CAC-04)."""
    way_varies: bool = False
    """A redirect depends on the User-Agent."""
    archive: Any = field(default=None, compare=False)
    """Where the exchanges of this attempt were archived; None: no evidence is kept."""

    @property
    def counted_status(self) -> int | None:
        """The status, or 404 for a chain that counts as one."""
        return self.status if self.redirect_error is None else 404

    @property
    def varies(self) -> bool:
        """Whether response or redirects depend on the User-Agent (CAC-04)."""
        return self.way_varies or depends_on_agent(self.headers)

    @property
    def answered(self) -> bool:
        """Whether the site itself gave an HTTP response."""
        return self.status is not None and self.status not in NOT_FROM_THE_SITE


def depends_on_agent(fields: Mapping[str, str]) -> bool:
    """Whether a response with *fields* depends on the User-Agent (RFC 9111, 4.1)."""
    names = fields.get("vary", "").lower().split(",")
    return any(name.strip() in ("user-agent", "*") for name in names)


#: Statuses that only a proxy (407, FET-08) or the network before it (511) sends.
NOT_FROM_THE_SITE = frozenset({407, 511})
#: Invalid where nothing made the request conditional (FET-07).
NOT_MODIFIED = 304
#: The request came over the wrong connection (RFC 9110, 15.5.20).
MISDIRECTED = 421
#: Temporary statuses (FET-19).
TEMPORARY = frozenset({408, MISDIRECTED, 425, 429})
#: Statuses of a missing file; any other 4xx is doubtful (FET-20).
NO_FILE = frozenset({404, 410})

SUCCESS = range(200, 300)
CLIENT_ERRORS = range(400, 500)
SERVER_ERRORS = range(500, 600)

#: Header fields by which a challenge names itself (FET-20).
_CHALLENGES = {"cf-mitigated": ("challenge",), "x-amzn-waf-action": ("challenge", "captcha")}

#: Results of :func:`doubt`.
DOUBT = re.compile(rf"HTTP status \d{{3}}|{'|'.join(kind.value for kind in FileKind)}")

#: Meanings by status, or by class such as ``"4xx"`` (FET-09).
StatusPolicy = Mapping[int | str, Meaning]
NO_POLICY: StatusPolicy = MappingProxyType({})

#: By hundreds of the status. Any other is a server error (FET-10) or invalid (FET-16).
_BY_CLASS = {
    2: Meaning.RULES,  # FET-02
    3: Meaning.ALLOW,  # FET-07: a redirect that led nowhere counts as a 404; not NOT_MODIFIED
    4: Meaning.ALLOW,  # FET-08
}


def meaning(
    attempt: FetchResult, edition: Edition, status_policy: StatusPolicy = NO_POLICY
) -> Meaning:
    """The meaning of *attempt* under *edition*, unless *status_policy* overrides it.

    The policy is about responses: a failure stays one (FET-14). An incomplete body matters after
    a 2xx only; any other status decides alone (FET-03, FET-08).
    """
    found = status_meaning(attempt.counted_status, edition, status_policy)
    needs_body = found is Meaning.RULES or attempt.status in SUCCESS
    is_lost = needs_body and not attempt.complete and attempt.redirect_error is None
    return Meaning.UNREACHABLE if is_lost or challenge(attempt) is not None else found


def status_meaning(status: int | None, edition: Edition, status_policy: StatusPolicy) -> Meaning:
    """The meaning of a complete response with *status*."""
    if status is None:
        return Meaning.UNREACHABLE
    for key in (status, f"{status // 100}xx"):
        if key in status_policy:
            return status_policy[key]
    if status in NOT_FROM_THE_SITE or status == NOT_MODIFIED:
        return Meaning.UNREACHABLE
    if status == 429 and edition.too_many_requests_unreachable:  # FET-09
        return Meaning.UNREACHABLE
    return _BY_CLASS.get(status // 100, Meaning.UNREACHABLE)


def is_temporary(attempt: FetchResult, status_policy: StatusPolicy) -> bool:
    """Whether *attempt* is not a result yet (FET-19).

    A status that the policy names is a result.
    """
    status = attempt.counted_status
    return status in TEMPORARY and status not in status_policy and challenge(attempt) is None


def challenge(attempt: FetchResult) -> str | None:
    """The header field that names a challenge, or None (FET-20)."""
    for name, values in _CHALLENGES.items():
        if attempt.headers.get(name, "").strip().lower() in values:
            return name
    return None


def doubt(attempt: FetchResult, found: Meaning) -> str | None:
    """Doubt about a response that means *found*, or None (FET-20)."""
    status = attempt.status
    if attempt.redirect_error is not None or status is None:
        return None
    if found is not Meaning.RULES:
        doubtful = status in CLIENT_ERRORS and status not in NO_FILE
        return f"HTTP status {status}" if doubtful else None
    kind = foreign_kind(attempt.body)
    if kind is not None:
        return kind.value
    return "HTTP status 202" if status == 202 and not has_lines(attempt.body) else None


# --- lifetime (CAC-01, CAC-03) and Retry-After (FET-11)

#: RFC 9111 section 5.2:
#:     cache-directive = token [ "=" ( token / quoted-string ) ]
#: White space around "=" is accepted, and any characters of a value but those that end it.
_DIRECTIVE = re.compile(r'([^\s,="]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)("?)|([^\s,"]*)))?', re.DOTALL)
#: RFC 9110 section 5.6.4:
#:     quoted-pair = "\" ( HTAB / SP / VCHAR / obs-text )
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)

#: The value of a directive with different values.
_CONFLICT = "?"
#: The comma between two values of a repeated field: before a number, or a date by RFC 9110
#: section 5.6.7: HTTP-date = IMF-fixdate / obs-date. It begins with the day-name of IMF-fixdate or
#: rfc850-date ("Sun,", "Sunday,"), or that of asctime-date and its month ("Sun Nov").
_BETWEEN = re.compile(r",\s*(?=\d+\s*(?:,|$)|[A-Za-z]{3,9},|[A-Za-z]{3} [A-Za-z]{3})")

#: Greater numbers of seconds count as this (RFC 9111, 1.2.2).
_LONG = 2**31


def stated_lifetime(headers: Mapping[str, str], now: float) -> float | None:
    """The rest of the lifetime that *headers* state (seconds), or None.

    *now*: when they were received. 0 or less where the response is not to be kept, or its lifetime
    is invalid.
    """
    directives = parse_cache_control(headers.get("cache-control", ""))
    # "no-cache=field" concerns single fields only (RFC 9111, 5.2.2.4).
    if "no-store" in directives or directives.get("no-cache") in ("", _CONFLICT):
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in directives:
            seconds = _seconds(directives[name])
            return 0.0 if seconds is None else seconds - _age(headers, now)
    if "expires" not in headers:
        return None
    until = _single_date(headers, "expires")
    if until is None:  # RFC 9111, 5.3: an invalid date, "0" above all, lies in the past
        return 0.0
    return until - _sent(headers, now) - _age(headers, now)


def _values(headers: Mapping[str, str], name: str) -> list[str]:
    """The values of a field that should have one, from all its lines."""
    return _BETWEEN.split(headers.get(name, ""))


def _single_date(headers: Mapping[str, str], name: str) -> float | None:
    """The date that all lines of a field state."""
    dates = {_date(value) for value in _values(headers, name)}
    return dates.pop() if len(dates) == 1 else None


def _age(headers: Mapping[str, str], now: float) -> float:
    """Seconds since the response left its server (RFC 9111, 4.2.3)."""
    stated = _seconds(_values(headers, "age")[0]) or 0
    return max(stated, now - _sent(headers, now))


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Seconds from *now* until the latest Retry-After ends; 0.0 without one."""
    pauses = [0.0]
    for value in _values(headers, "retry-after"):
        seconds, until = _seconds(value), _date(value)
        if seconds is not None:
            pauses.append(seconds)
        elif until is not None:
            pauses.append(until - _sent(headers, now))
    return float(max(pauses))


def parse_cache_control(value: str) -> dict[str, str]:
    """Directives of a Cache-Control field by lower-case name.

    One that has different values, or one in a string without an end, has none that can be read.
    """
    directives: dict[str, str] = {}
    for found in _DIRECTIVE.finditer(value):
        name, quoted, end, plain = found.groups("")
        key, stated = name.lower(), _QUOTED_PAIR.sub(r"\1", quoted) or plain
        if found[2] is not None and not end:
            stated = _CONFLICT
        directives[key] = stated if directives.get(key, stated) == stated else _CONFLICT
    return directives


def _sent(headers: Mapping[str, str], now: float) -> float:
    """The time of the response by the sender's clock, which its other dates refer to."""
    date = _single_date(headers, "date")
    return now if date is None else date


def _seconds(value: str) -> int | None:
    value = value.strip()
    if not (value.isascii() and value.isdigit()):
        return None
    return min(int(value[:20]), _LONG)  # Python refuses numbers of thousands of digits


def _date(value: str) -> float | None:
    from email.utils import parsedate_to_datetime  # a command for files reads no date

    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # a date of HTTP without a zone is GMT too
            date = date.replace(tzinfo=timezone.utc)
        return date.timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
