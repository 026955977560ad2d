"""Formats of access logs as users write them: Apache's ``LogFormat``, nginx's ``log_format``.

A format becomes one regular expression. It takes one pass over a line: a value ends where the next
literal begins, and a line in which that is ambiguous does not match.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.evidence.access_logs import (
    TIME,
    Request,
    agent_of,
    base_of,
    json_request,
    load_object,
    moment,
    parse,
    plain_text,
    target_in,
    text_of,
    unhashed,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    LineReader = Callable[[bytes], Request | None]

#: Formats by the names that servers and people give them.
NAMED = {
    "common": '%h %l %u %t "%r" %>s %b',
    "combined": '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"',
    "vhost_combined": '%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"',
    "lighttpd": '%h %V %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"',
    "haproxy": '$client [$time_local] $frontend $backend $timers $status $bytes $more"$request"',
    "alb": "$type $time_iso8601 $balancer $client $target $wait $work $answer $status $code "
    '$received $sent "$request" "$http_user_agent" $more',
    "envoy": '[$time_iso8601] "$request" $status $flags $received $sent $duration $upstream '
    '"$forwarded" "$http_user_agent" "$id" "$http_host" "$server"',
    "squid": "$msec  $elapsed $client $result $bytes $method $url $more",
}
#: Readers of the values of servers that escape otherwise, or not at all.
_TEXTS = {"haproxy": unhashed, "squid": plain_text}
#: Apache's ``%>{name}i``, nginx's ``$name`` and ``${name}``.
_FIELD = re.compile(r"%[<>!,\d]*(?:\{([^}]*)\})?(\^t[io]|[A-Za-z]|%)|\$(?:\{(\w+)\}|(\w+))")
#: Fields by their kind, the best first. Apache's headers have nginx's names here.
_TIMES = ("t", "{sec}t", "{msec}t", "{usec}t", "time_local", "time_iso8601", "msec")
_TARGETS = ("r", "request", "request_uri", "url")
_HOSTS = ("http_host", "host", "V", "v", "server_name")
_PORTS = ("p", "{local}p", "{canonical}p", "server_port")
_SCHEMES = ("scheme", "{REQUEST_SCHEME}e", "http_x_forwarded_proto")
_STATUSES = ("s", "status")
_USERS = ("u", "remote_user")
#: The fields that decide about a request's URL or time.
_NEEDED = (*_TIMES, *_TARGETS, *_HOSTS, *_PORTS, *_SCHEMES)
#: Fields that a server decodes, and those with the same text as it was sent.
_DECODED = {"U": "%r", "uri": "$request_uri", "document_uri": "$request_uri"}
#: Layouts of Apache's ``%{layout}t`` that say the second.
_LAYOUT = re.compile(r"(?:begin:|end:)?(?:(?:%F|%Y-%m-%d)[T ]|%d/%b/%Y:)(?:%T|%H:%M:%S)(?: ?%z|Z)?")
_QUOTED = rb'[^"\\]*(?:\\.[^"\\]*)*'
#: The name of a user may have blanks; it ends where the time begins. One that begins with "- " is
#: a sign of further words before it.
_USER = rb"(?!- (?!\[\d))(?:(?! \[\d).)*"
#: A literal and the time behind it that a user name ends at.
_BRACKETED = (" t", *(f" [{name}" for name in _TIMES))
_SHAPES = {
    **dict.fromkeys(_STATUSES, rb"\d{3}|[0-]"),
    **dict.fromkeys(_HOSTS, rb"[\w.-]+(?::\d+)?|\[[\dA-Fa-f:.]+\](?::\d+)?|"),
    **dict.fromkeys(_PORTS, rb"\d+|-|"),
    **dict.fromkeys(_TIMES, TIME),
    "t": rb"\[" + TIME + rb"\]",
}
#: The same for values that are not quoted and end at a blank.
_SHAPES_OF_WORDS = {
    **dict.fromkeys(("r", "request"), rb"[^ ]+ [^ ]+ HTTP/\d(?:\.\d)?|-"),
    **dict.fromkeys(("request_uri", "url"), rb"[^ ]+"),
    "http_x_forwarded_for": rb"[^ ,]+(?:, ?[^ ,]+)*",
}


def reader(log_format: str | None, zone: str = "Z") -> LineReader:
    """A function that reads a line of a format as :func:`parse` does.

    None stands for the looks of each line. Raises ``ValueError`` for a format without time or URL.
    """
    if log_format is None:
        return lambda line: parse(line, zone)
    if log_format.startswith("json:"):
        return _json_reader(log_format, zone)
    return _line_reader(log_format, zone)


def _json_reader(log_format: str, zone: str) -> LineReader:
    pairs = (each.partition("=") for each in log_format.removeprefix("json:").split(","))
    names = {name.strip(): path.strip() for name, _, path in pairs}
    if wrong := names.keys() - {"time", "url", "uri", "host", "scheme", "agent"}:
        raise ValueError(
            f"no member can be {min(wrong)!r}: names are time, url (or uri, host, scheme) and agent"
        )
    if "time" not in names or not names.keys() & {"url", "uri"}:
        raise ValueError("json: needs time=NAME and url=NAME or uri=NAME")

    def read(line: bytes) -> Request | None:
        line = unwrapped(line)
        start = line.find(b"{")  # others than syslog write something before it, too
        return json_request(load_object(line[max(start, 0) :]), names, zone)

    return read


class _Field(NamedTuple):
    before: str
    """The literal before it."""
    name: str
    """The name in nginx, or Apache's letter; empty behind the last field."""
    is_quoted: bool
    stop: str
    """The literal behind it; empty at the end of a line."""
    behind: str
    """The name of the next field."""


def _line_reader(log_format: str, zone: str) -> LineReader:
    pattern, names = compiled(NAMED.get(log_format, log_format))
    text = _TEXTS.get(log_format, text_of)

    def read(line: bytes) -> Request | None:
        found = pattern.fullmatch(unwrapped(line)) or pattern.fullmatch(line.rstrip(b"\r\n"))
        if found is None:
            raise ValueError("not as --log-format says")
        values = dict(zip(names, found.groups(), strict=True))
        target = target_in(text(_first(values, _TARGETS)))
        if target is None:
            return None
        if target.startswith("/"):
            parts = (_first(values, each) for each in (_HOSTS, _PORTS, _SCHEMES))
            target = base_of(*(part.decode("latin-1") for part in parts)) + target
        agent = agent_of(values.get("http_user_agent"))
        time = _first(values, _TIMES).decode().strip("[]")
        return Request(*moment(time, zone), target, agent)

    return read


def compiled(text: str) -> tuple[re.Pattern[bytes], list[str]]:
    """The expression of a format, and the names of its groups.

    Raises ``ValueError`` for a format without time or URL, and for an ambiguous one.
    """
    fields = list(_fields(text.replace('\\"', '"').replace("\\t", "\t")))
    names = [each.name for each in fields[:-1]]
    wanted = ["URL (%r, $request, $request_uri)"] if set(names).isdisjoint(_TARGETS) else []
    if set(names).isdisjoint(_TIMES):
        wanted.append("time (%t, $time_local, $time_iso8601, $msec)")
    if wanted:
        raise ValueError(f"the format has no {' and '.join(wanted)}")
    #: No value may contain the literals around a needed one that is not quoted.
    limits = {
        limit
        for each in fields
        if each.name in _NEEDED and not each.is_quoted
        for limit in (each.before[-1:], each.stop[:1])
        if each.name in _TARGETS or limit not in (":", "[", "]")
    } - {" ", ""}
    _check_order(fields, limits)
    pieces = []
    for each in fields:
        # Two blanks stand for the run of blanks that aligns columns.
        literal = re.escape(each.before.encode()).replace(rb"\ \ ", b" +")
        pieces.append(b"%b(%b)" % (literal, _shape(each, limits)) if each.name else literal)
    return re.compile(b"".join(pieces), re.DOTALL), names


def _shape(field: _Field, limits: set[str]) -> bytes:
    """The expression of a value."""
    name, stop = field.name, field.stop[:1]
    if name in _SHAPES:
        return _SHAPES[name]
    if field.is_quoted:
        return _QUOTED
    if name in _USERS and f"{field.stop}{field.behind}" in _BRACKETED:
        return _USER
    if stop in ("", " ") and not limits and name in _SHAPES_OF_WORDS:
        return _SHAPES_OF_WORDS[name]
    excluded = "".join(sorted({*limits, stop}))
    if not excluded:
        return b".*"
    return b"[^%b]%b" % (re.escape(excluded.encode()), b"+" if stop == " " else b"*")


def _first(values: Mapping[str, bytes], names: tuple[str, ...]) -> bytes:
    """The first value that is there; else an empty one."""
    found = (values.get(name, b"") for name in names)
    return next((value for value in found if value not in (b"", b"-")), b"")


def _check_order(fields: list[_Field], limits: set[str]) -> None:
    """Refuse a text of the client before a value that is needed, and another text behind it.

    A text may contain blanks, so nothing divides the three for certain. Quotation marks do.
    """
    text = needed = ""
    for each in fields:
        name, mark = each.name, each.before[-1:]
        if '"' in each.before:
            text = needed = ""
        if each.is_quoted or not name or mark in limits:
            continue
        is_any = name.startswith("http_") or name in _USERS or not each.stop
        if is_any and name not in (*_SHAPES, *_TARGETS):
            if needed:
                raise ValueError(f"{text} may contain blanks, so {needed} behind it is ambiguous")
            text = text or name
        elif text and name in _NEEDED and mark != "[" and name != "t":
            needed = name


def _fields(text: str) -> Iterator[_Field]:
    """The fields of a format. Raises ``ValueError`` for one that the server decodes."""
    end, found = 0, []
    for field in _FIELD.finditer(text):
        before, end = text[end : field.start()], field.end()
        argument, letter, braced, plain = field.groups()
        name = braced or plain or (letter if argument is None else f"{{{argument}}}{letter}")
        if letter == "i":
            name = f"http_{argument}".lower().replace("-", "_")
        if letter == "t" and "%" in (argument or ""):
            if not _LAYOUT.fullmatch(argument):
                raise ValueError(f"{field[0]} is not read: log %t instead")
            name = "time_iso8601"
        if name in _DECODED:
            raise ValueError(f"{field[0]} is decoded by the server: log {_DECODED[name]} instead")
        found.append((before, name))
    found.append((text[end:], ""))
    for (before, name), (stop, behind) in zip(found, [*found[1:], ("", "")], strict=True):
        yield _Field(before, name, before.endswith('"') and stop.startswith('"'), stop, behind)
