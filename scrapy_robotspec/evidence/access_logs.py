"""Access logs: lines of several formats as requests with a time.

Common and Combined log format (also with a virtual host, as Apache and lighttpd have it), CDXJ and
JSON lines are recognised by their looks, each line by itself; ``log_formats.py`` reads others.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class NoURLError(ValueError):
    """A JSON object without a URL: maybe another message of an application."""


class Request(NamedTuple):
    """One request of a log."""

    time: float
    """Epoch seconds."""
    resolution: float
    """The request came at most this much later (seconds, up to 1.0)."""
    has_zone: bool
    """Whether the log says in which zone the time is."""
    url: str
    """Absolute; ``//host/path`` where the scheme is unknown, ``///path`` where the host is, too."""
    agent: str | None = None
    """The User-Agent; empty for a request without one, None where the log has none."""


#: Date and time, fraction of a second, zone; or epoch seconds, milliseconds and so on.
_DATE = r"\d\d/[A-Z][a-z]{2}/\d{4}:[\d:]{8}|\d{4}-\d\d-\d\d[T ][\d:]{8}"
_STAMP = re.compile(rf"({_DATE})(?:[.,](\d{{1,9}}))?(?: ?(Z|[+-]\d\d:?\d\d))?")
_EPOCH = re.compile(r"(\d{10})\.?(\d{0,9})")
TIME = (
    rf"(?:(?:{_DATE})(?:[.,]\d{{1,9}})?(?: ?(?:Z|[+-]\d\d:?\d\d))?|\d{{10}}\.?\d{{0,9}})".encode()
)

#: The time before a request line. Another one would be a client's text.
_TIME = re.compile(rb'\[(%b)\] "' % TIME)
#: A quoted value ends at a quotation mark that no backslash escapes, and, as some servers escape
#: nothing, that a separator follows: behind a request line the status, 0 or -1 for none.
_QUOTED = rb'"([^"\\]*(?:(?:\\.|"(?!%b))[^"\\]*)*)"'
_STATUS = rb" (?:\d{3}|-1?|0)(?: |$)"
_REQUEST = re.compile(_QUOTED % _STATUS + rb"(?=%b) [^ ]+(?: [^\" ]+)?" % _STATUS)
_HEADERS = re.compile(b" %b %b(?= |$)" % ((_QUOTED % b"(?: |$)",) * 2))
#: The rest of a line behind them: words, and quoted values behind separators.
_REST = re.compile(rb'(?:[^"]*[ =:(\[{,;|]"[^"\\]*(?:\\.[^"\\]*)*")*[^"]*')
#: Servers escape what is not printable, quotation marks and backslashes, h2o also "}" and "~".
#: Anything else that looks like an escape was sent as it is.
_ESCAPE = re.compile(rb'\\(?:x([01][\dA-Fa-f]|22|5[Cc]|7[D-Fd-f]|[89A-Fa-f][\dA-Fa-f])|(["\\]))')
_TAB = re.compile(rb"(\\\\)|\\t")
#: HAProxy's escapes, and what only its lines have.
_HASH = re.compile(rb"#([0-9A-F]{2})")
_HAPROXY = re.compile(rb' "" "" \d+ \d+ "[^"]*" "[^"]*" "[^"]*"(?: -?\d+){5} ')
#: The beginning of a line that syslog or journald, syslog by RFC 5424, or Docker and Kubernetes
#: (name of a container, time) have written; empty without one.
_PREFIX = re.compile(
    rb"(?:<\d{1,3}>\d? ?)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?|\d{4}-\d\d-\d\dT[\w:.+-]+) "
    rb"\S+ [^ \[]+(?:\[\d+\])?: "
    rb"|<\d{1,3}>1(?: \S+){5} (?:-|\[[^]]*\]) (?:\xef\xbb\xbf)?"
    rb"|\d{4}-\d\d-\d\dT[\w:.+-]+ std(?:out|err) F "
    rb"|(?:[\w.-]+ +\| |\[pod/[\w./-]+\] )?"
    rb"(?:\d{4}-\d\d-\d\dT[\d:]{8}\.\d+(?:Z|[+-][\d:]{5}) )?"
)
#: A line that Docker has written in JSON.
_DOCKER = re.compile(rb'\{"log": ?"(?:[^"\\]|\\.)*", ?"stream": ?"std')
_HOST = re.compile(r"([\w.-]+|\[[\dA-Fa-f:.]+\])(?::(\d{1,5}))?")
_NAME = re.compile(r"\[[\dA-Fa-f:.]+\](?::\d+)?|(?!unknown$)(?=[\d.-]*[^\W\d])[\w.-]+(?::\d+)?")
#: An address as proxies list them, maybe with a port; or none.
_ADDRESS = re.compile(r"-|unknown|(?=[^.:]*[.:])[\dA-Fa-f.:\[\]]+")
#: RFC 9112 section 3; HTTP/0.9 has no version. CONNECT has a host or a path (RFC 8441), and OPTIONS
#: may have "*": Varnish makes URLs of the host and of "*".
_REQUEST_LINE = re.compile(
    r"(?!CONNECT \w)[A-Za-z][\w!#$%&'*+.^`|~-]* ((?:/|(?i:https?)://(?![^/?#]*\*)).*?)"
    r"(?: (HTTP/\d(?:\.\d)?|\d(?:\.\d)?))?",
    re.DOTALL,
)
_TARGET = re.compile(r"/|https?://", re.IGNORECASE)
#: A JSON object; in an index before it the seconds, and milliseconds or none.
_JSON = re.compile(rb"(?:\S+ (\d{14})(\d{3})? )?(\{.*)")
#: Marks of other formats, and what to do about them.
_OTHERS = (
    (rb"(?:\xff\xfe|\xfe\xff)?\0?(?:[^\0]\0){2}", "UTF-16: save it as UTF-8"),
    (rb"#(?:Fields|Software|Version|Date):", "W3C extended log format is not read"),
    (
        rb"BZh|\xfd7zXZ|\(\xb5/\xfd|PK\x03\x04",
        "compressed, and not by gzip: unpack it, such as zstd -dc LOG | robotspec audit -",
    ),
    (rb"\d{10}\.\d{3} +\d+ \S+ [A-Z_]+/\d{3} ", "Squid's own format: give --log-format squid"),
    (
        rb"\S+:\d+ \[\d\d/\w{3}/\d{4}:[\d:]{8}\.\d{3}\] ",
        "HAProxy's own format: give --log-format haproxy",
    ),
    (rb"\w+ [\d-]{10}T[\d:.]+Z \S+/", "AWS ALB's own format: give --log-format alb"),
    (rb'INFO: +\S+:\d+ - "', "uvicorn's lines have no time"),
)
UNKNOWN = "neither Common or Combined log format nor CDXJ nor JSON with time and url"
#: The members of a JSON object, by what they are; dots lead into objects.
_OWN = {"time": "time", "url": "url", "agent": "agent"}
_CADDY = {
    "time": "ts",
    "host": "request.host",
    "uri": "request.uri",
    "tls": "request.tls",
    "agent": "request.headers.User-Agent",
}
#: Max members that an error names.
_MOST_MEMBERS = 12


def parse(line: bytes, zone: str = "Z") -> Request | None:
    """The request of *line*; None for one without a URL.

    *zone*: that of times without one. Raises ``ValueError`` for a line of another format, and
    ``OverflowError`` or ``RecursionError`` for absurd values.
    """
    line = unwrapped(line)
    if found := _JSON.match(line):
        return _parse_json(found, zone)
    if found := _TIME.search(line):
        return _parse_common(line, found, zone)
    if line.startswith(b"!"):  # a head of an index
        return None
    raise ValueError(next((why for seen, why in _OTHERS if re.match(seen, line)), UNKNOWN))


def unwrapped(line: bytes) -> bytes:
    """A line without its end and what syslog or a container added."""
    if _DOCKER.match(line):
        line = _text(load_object(line), "log").encode("utf-8", "surrogateescape")
    return _PREFIX.sub(b"", line.rstrip(b"\r\n"), 1)


# --- parts of a request


@lru_cache(maxsize=64)
def moment(text: str, zone: str) -> tuple[float, float, bool]:
    """Epoch seconds of a logged time, and its resolution.

    The third value: whether it has a zone. Raises ``ValueError``.
    """
    if found := _EPOCH.fullmatch(text):
        whole, fraction = found.groups()
        return float(f"{whole}.{fraction}"), 0.1 ** len(fraction), True
    found = _STAMP.fullmatch(text)
    if found is None:
        raise ValueError("no time")
    date, fraction, own = found.groups("")
    layout = "%d/%b/%Y:%H:%M:%S" if "/" in date else "%Y-%m-%dT%H:%M:%S"
    seconds = _epoch(date.replace(" ", "T"), layout, own or zone)
    return seconds + float(f"0.{fraction}0"), 0.1 ** len(fraction), bool(own)


@lru_cache(maxsize=64)
def _epoch(text: str, layout: str, zone: str) -> float:
    return datetime.strptime(f"{text}{zone}", f"{layout}%z").timestamp()


def text_of(raw: bytes) -> str:
    """A logged value without its escapes."""
    plain = _ESCAPE.sub(lambda found: found[2] or bytes([int(found[1], 16)]), raw)
    return plain_text(plain)


def plain_text(raw: bytes) -> str:
    """A value of a server that escapes nothing."""
    return raw.decode("utf-8", "surrogateescape")


def unhashed(raw: bytes) -> str:
    """A value as HAProxy received it."""
    return plain_text(_HASH.sub(lambda found: bytes([int(found[1], 16)]), raw))


def agent_of(raw: bytes | None) -> str | None:
    """A User-Agent as logged, with blanks for tabs; ``-`` is none."""
    if raw is None:
        return None
    return "" if raw == b"-" else text_of(_TAB.sub(lambda found: found[1] or b" ", raw))


def target_of(request: str) -> str | None:
    """The path or URL of a request line; None without one.

    Raises ``ValueError`` for a line that a server has changed.
    """
    found = _REQUEST_LINE.fullmatch(request)
    if found is None:
        return None
    target, version = found.groups()
    if version is None:  # a blank makes it no request (RFC 9112 section 3.2)
        return None if " " in target else target
    if not version.startswith("HTTP"):
        raise ValueError("a request line without HTTP/, such as hypercorn's, has no query string")
    return target


def target_in(value: str) -> str | None:
    """The path or URL in a value or a request line."""
    return value if _TARGET.match(value) else target_of(value)


def base_of(host: str, port: str = "", scheme: str = "") -> str:
    """The beginning of a URL; two slashes for an unknown host.

    A path may begin with two slashes itself (RFC 9112 section 3.2.1). Raises ``ValueError`` for an
    invalid host.
    """
    if host in ("", "-"):
        return "//"
    found = _HOST.fullmatch(host)
    if found is None:
        raise ValueError("no valid host")
    port = found[2] or (port if port.isdecimal() else "")
    if scheme not in ("http", "https"):
        scheme = {"80": "http", "443": "https"}.get(port, "")
    tail = "" if not port or (scheme, port) in (("http", "80"), ("https", "443")) else f":{port}"
    return f"{scheme}{scheme and ':'}//{found[1]}{tail}"


# --- Common and Combined log format


def _parse_common(line: bytes, found: re.Match[bytes], zone: str) -> Request | None:
    """Reads from the time on: no text of a client before it can pass for a request line."""
    if _TIME.search(line, found.end()):
        raise ValueError("it has two times: one is a client's text")
    if not found.start() and found[1].endswith(b"Z"):
        raise ValueError("Envoy's own format: give --log-format envoy")
    request = _REQUEST.match(line, found.end() - 1)
    if request is None:
        raise ValueError("the quotation marks of its request line are ambiguous")
    is_haproxy = _HAPROXY.match(line, request.end())  # which leaves its headers empty
    agent = None if is_haproxy else agent_of(_agent(line, request.end()))
    target = target_of((unhashed if is_haproxy else text_of)(request[1]))
    if target is None:
        return None
    base = _host(line[: found.start()].decode("latin-1").removesuffix(" "))
    if target.startswith("/"):
        target = base + target
    return Request(*moment(found[1].decode(), zone), target, agent)


def _agent(line: bytes, start: int) -> bytes | None:
    """The User-Agent behind a request line that ends at *start*.

    Where a server escapes nothing, a mark that is not the last one may seem to end it. Raises
    ``ValueError``.
    """
    found = _HEADERS.match(line, start)
    if found is None and not line.startswith(b' "', start):
        return None
    if found is not None:
        if _REST.fullmatch(line, found.end()):
            return found[2]
        agent, _, rest = line[found.start(2) :].rpartition(b'"')
        if b'" "' not in agent and rest[:1] in (b"", b" "):
            return agent
    raise ValueError("the quotation marks of its headers are ambiguous: give --log-format")


def _host(head: str) -> str:
    """The virtual host before or behind the client's address, as a URL's beginning.

    Raises ``ValueError`` where several words could be it.
    """
    if re.search(r'(?<!\\)"', head.partition(" - ")[2]):  # behind a time of another format
        raise ValueError("the words before the time are ambiguous: give --log-format")
    words = head.split(" ")
    if words[1:2] == ["-"]:  # an address, and two names of a user
        return "//"
    if words[2:3] == ["-"] and len(words) > 3 and _NAME.fullmatch(words[0]):
        return base_of(words[0])  # Apache's vhost_combined
    if len(words) == 3 and '"' not in head:
        return base_of(words[1]) if re.search(r"[.:]", words[1]) else "//"  # lighttpd
    addresses = re.split(r'[, "]+', head.partition(" - ")[0].strip('" '))
    if head and not all(map(_ADDRESS.fullmatch, addresses)):
        raise ValueError("the words before the time are ambiguous: give --log-format")
    return "//"


# --- CDXJ and JSON lines


def _parse_json(found: re.Match[bytes], zone: str) -> Request | None:
    """An object with ``url``, and ``time`` (epoch seconds or ISO 8601) where no index has it."""
    digits, millis, raw = found.groups()
    values = load_object(raw)
    if digits is not None:
        if "filename" in values and "mime" not in values:  # the request of an exchange
            return None
        seconds = _epoch(digits.decode(), "%Y%m%d%H%M%S", "Z") + int(millis or 0) / 1000
        return Request(seconds, 0.001 if millis else 1.0, True, _text(values, "url"))
    return json_request(values, _CADDY if {"ts", "request"} <= values.keys() else _OWN, zone)


def load_object(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises ``ValueError``, also for a repeated name."""
    values = json.loads(raw.decode("utf-8", "surrogateescape"), object_pairs_hook=_object)
    if not isinstance(values, dict):
        raise ValueError("no object")
    return values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):  # a client's text, where a server escapes nothing
        raise ValueError("a member is there twice")
    return values


def json_request(values: dict[str, Any], names: Mapping[str, str], zone: str) -> Request | None:
    """The request of an object whose members *names* names."""
    target = _text(values, names.get("url") or names["uri"])
    if "url" not in names:
        found = target_in(target)
        if found is None:
            return None
        target = found
    scheme = str(_find(values, names.get("scheme")) or "")
    if "tls" in names:
        scheme = "https" if _find(values, names["tls"]) else "http"
    if target.startswith("/"):
        target = base_of(str(_find(values, names.get("host")) or ""), "", scheme) + target
    agent = _find(values, names.get("agent"))
    if isinstance(agent, list):
        agent = agent[0] if agent else ""
    if not isinstance(agent, str):
        agent = "" if "agent" in names and names is not _OWN else None
    return Request(*moment(str(_find(values, names["time"])), zone), target, agent)


def _text(values: Mapping[str, Any], path: str) -> str:
    """A member that must be text. Raises :class:`NoURLError`."""
    found = _find(values, path)
    if not isinstance(found, str):
        names = ", ".join(list(values)[:_MOST_MEMBERS]) or "none"
        raise NoURLError(f"no {path} (members: {names})")
    return found


def _find(values: Any, path: str | None) -> Any:
    """A member, also of an object inside (``request.uri``); None where there is none."""
    if not path:
        return None
    for name in (path,) if isinstance(values, dict) and path in values else path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values
