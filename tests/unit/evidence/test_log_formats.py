"""Formats as users write them, on lines that real servers wrote."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.evidence.log_formats import NAMED, compiled, reader
from tests.support.regex_steps import check_linear
from tests.support.server_logs import TARGETS, VALUES, as_nginx, check_lines, lines_of, urls_of

NGINX = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent'
NGINX += ' "$http_referer" "$http_user_agent"'
APACHE = '%h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"'

#: File, format, hosts in URLs, and numbers of the requests whose path the server does not log as it
#: was sent.
READ = [
    ("nginx-combined", "combined", "", ""),
    (
        "nginx-vhost",
        f"$host:$server_port {NGINX}",
        "//shop.example:18901 //[::1]:18901",
        "",
    ),
    (
        "nginx-forwarded",
        f"$http_x_forwarded_for {NGINX}",
        "",
        "",
    ),
    (
        "nginx-own",
        (
            '$remote_addr [$time_iso8601] $scheme "$http_host" $request_method "$request_uri" '
            '$status "$http_user_agent"'
        ),
        "http://shop.example http://SHOP.example:8080 https://shop.example:18902",
        "",
    ),
    (
        "nginx-msec",
        "$msec|$scheme|$http_host|$request_uri|$http_user_agent",
        "http://shop.example http://SHOP.example:8080 https://shop.example:18902",
        "",
    ),
    (
        "nginx-json",
        "json:time=time,host=host,scheme=scheme,uri=uri,agent=agent",
        "http://shop.example http://other.example https://shop.example:18902",
        "",
    ),
    (
        "nginx-json",
        (
            '{"time":"$time_iso8601","host":"$http_host","scheme":"$scheme","uri":"$request_uri",'
            '"agent":"$http_user_agent"}'
        ),
        "http://shop.example http://other.example https://shop.example:18902",
        "",
    ),
    ("apache-combined", '%h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"', "", ""),
    ("apache-vhost_combined", "vhost_combined", "http://shop.example //other.example:18911", ""),
    (
        "apache-host",
        '%{Host}i %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"',
        "//shop.example //other.example",
        "",
    ),
    (
        "apache-msec",
        "%{msec}t\\t%{REQUEST_SCHEME}e\\t%{Host}i\\t%r\\t%{User-Agent}i",
        "//shop.example",
        "",
    ),
    (
        "apache-json",
        (
            '{"time":"%{%Y-%m-%dT%H:%M:%S%z}t","host":"%{Host}i","request":"%r",'
            '"agent":"%{User-Agent}i"}'
        ),
        "//shop.example //other.example",
        "",
    ),
    ("lighttpd", "lighttpd", "//shop.example //shop.example:8080 //[::1]:18921", ""),
    ("haproxy-http", "haproxy", "", ""),
    ("squid-native", "squid", "http://127.0.0.1:18901", "03 06 11 13"),
]


@pytest.mark.parametrize(("name", "log_format", "hosts", "changed"), READ)
def test_lines_are_read_as_they_were_sent(
    name: str, log_format: str, hosts: str, changed: str
) -> None:
    check_lines(name, reader(log_format), hosts, changed)


@pytest.mark.parametrize(("name", "log_format"), [each[:2] for each in READ])
def test_nothing_forged_is_taken_for_a_request(name: str, log_format: str) -> None:
    """Paths, User-Agents and other headers contain what looks like a request line."""
    urls = urls_of(name, reader(log_format))
    assert not [url for url in urls if "/forged" in url and "/n20/" not in url]


@pytest.mark.parametrize(
    ("log_format", "reason"),
    [
        ('%h %t "%U%q"', "%U is decoded by the server: log %r instead"),
        ("$msec $uri", "decoded by the server: log .request_uri instead"),
        ("%h %t", "the format has no URL"),
        ('%h "%r"', "the format has no time"),
        ("combine", "the format has no URL .* and time"),
        ('%{%c}t "%r"', "%{%c}t is not read: log %t instead"),
        ('%{%d/%b/%Y %T}t "%r"', "is not read: log %t instead"),
        ("json:zeit=a,url=b", "no member can be 'zeit'"),
        ("json:time=a", "json: needs time=NAME and url=NAME or uri=NAME"),
        ("json:url=a", "json: needs time=NAME and url=NAME or uri=NAME"),
        ("$msec $http_referer $request_uri $http_user_agent", "http_referer may contain blanks"),
        ("%{Referer}i %V %u %t %r", "http_referer may contain blanks, so V behind it"),
        ("$msec $request_uri $http_referer $scheme $http_user_agent", "so scheme behind it is"),
    ],
)
def test_a_format_that_cannot_do_is_refused(log_format: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        reader(log_format)


@given(
    st.sampled_from(["", "begin:", "end:"]),
    st.tuples(
        st.sampled_from(["%F", "%Y-%m-%d", "%d/%b/%Y"]),
        st.sampled_from(["T", " ", ":", ""]),
        st.sampled_from(["%T", "%H:%M:%S", "%R"]),
        st.sampled_from(["", "%z", " %z", "Z", "."]),
    ),
    st.integers(1_000_000_000, 1_900_000_000),
)
def test_each_layout_of_a_time_is_read_or_refused(
    begin: str, parts: tuple[str, str, str, str], at: int
) -> None:
    """As a server in UTC writes it: never a format whose lines cannot be read."""
    date, mark, seconds, zone = parts
    layout = "".join(parts)
    is_known = mark in list(":" if "/" in date else "T ") and seconds != "%R" and zone != "."
    try:
        read = reader(f'%h [%{{{begin}{layout}}}t] "%r" %>s')
    except ValueError:
        assert not is_known
        return
    logged = datetime.fromtimestamp(at, timezone.utc).strftime(layout)
    found = read(f'192.0.2.1 [{logged}] "GET /a HTTP/1.1" 200'.encode())
    assert found is not None
    assert (found.time, found.url) == (at, "///a")


def test_a_named_format_is_not_stretched_to_a_log_with_hosts() -> None:
    """Their host would be lost, and each request judged as one of --origin."""
    for line in lines_of("apache-vhost_combined"):
        with pytest.raises(ValueError, match="not as --log-format says"):
            reader("combined")(line)


#: Fields of nginx in any order, and what divides them. Each has the text that a request gives it.
FIELDS = ("request_uri", "msec", "http_host", "http_user_agent", "http_referer", "remote_user")


@given(
    st.permutations(FIELDS),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.sampled_from([" ", "\t", "|", ";", ", ", " - ", "/", "?"]),
    TARGETS,
    st.tuples(VALUES, VALUES, VALUES),
    st.booleans(),
)
def test_a_line_that_is_read_gives_exactly_the_url_that_was_asked_for(
    fields: list[str],
    quoted: list[bool],
    divider: str,
    target: bytes,
    others: tuple[bytes, bytes, bytes],
    has_divider: bool,
) -> None:
    """Whatever the client sends, in a format that is accepted."""
    marks = dict(zip(FIELDS, quoted, strict=True))
    words = [f'"${name}"' if marks[name] else f"${name}" for name in fields]
    with suppress(ValueError):
        read = reader(divider.join(words))
        if has_divider:  # what it sends looks like the next values
            forged = divider.join(["x", "/forged", "1769860800.000", "y"]).encode()
            others = (others[0] + forged, forged, forged + others[2])
        texts = [target, b"1769860801.500", b"shop.example", *others]
        values = dict(zip(FIELDS, map(as_nginx, texts), strict=True))
        line = divider.join(words)
        raw = re.sub(rb"\$(\w+)", lambda found: values[found[1].decode()] or b"-", line.encode())
        found = read(raw)
        if found is not None:
            assert found.url.encode("utf-8", "surrogateescape") == b"//shop.example" + target
            assert found.time == 1769860801.5


def test_lines_are_read_at_all() -> None:
    """The property holds for more than refused lines."""
    line = b"1769860801.5|shop.example|/a|x/1.0"
    found = reader("$msec|$http_host|$request_uri|$http_user_agent")(line)
    assert found is not None
    assert (found.time, found.url, found.agent) == (1769860801.5, "//shop.example/a", "x/1.0")


@pytest.mark.parametrize(
    ("log_format", "line", "url"),
    [
        ("json:time=t,uri=r", {"t": "31/Jan/2026:12:00:00 +0000", "r": "GET /a HTTP/2"}, "///a"),
        ("json:time=t,uri=u.p,host=h", {"t": 1769860800, "u.p": "/a", "h": "b:8"}, "//b:8/a"),
        ("json:time=t,uri=u,scheme=s,host=h", {"t": 1769860800, "u": "/a", "s": "http", "h": "b"}, "http://b/a"),
        ("json:time=t,url=u", {"t": 1769860800, "u": "https://a.example/a"}, "https://a.example/a"),
        ("json:time=t,uri=u", {"t": 1769860800, "u": "HTTPS://b/a"}, "HTTPS://b/a"),
        ("json:time=t,uri=u", {"t": 1, "u": "*"}, None),
    ],
)  # fmt: skip
def test_members_of_json(log_format: str, line: dict[str, object], url: str | None) -> None:
    found = reader(log_format)(b"prefix " + json.dumps(line).encode())
    assert (found and found.url) == url


COMMON = b'1.2.3.4 - - [31/Jan/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 5'
HAPROXY = (
    b"Jan 31 12:00:00 lb haproxy[7]: 1.1.1.1:5 [31/Jan/2026:12:00:00.250] f b/s 0/0/0/0/0 200 72"
)
HAPROXY += b' - - ---- 1/1/0/0/0 0/0 "GET /a#22 HTTP/1.1"'


@pytest.mark.parametrize(
    ("log_format", "line", "url"),
    [
        ("%t %r %>s", b"[31/Jan/2026:12:00:00 +0000] GET /a HTTP/1.1 200", "///a"),
        ("%t %>s %r", b"[31/Jan/2026:12:00:00 +0000] 200 GET /a HTTP/1.1", "///a"),
        ("%V:%p %t %r", b"b:443 [31/Jan/2026:12:00:00] GET /a HTTP/2", "https://b/a"),
        ("$msec | $http_host | $request_uri", b"1769860800.5 | b.example | /a", "//b.example/a"),
        ("$time_iso8601 $host $request", b"2026-01-31T12:00:00.25Z b GET /a HTTP/1.1", "//b/a"),
        ("common", b"web-1  | " + COMMON, "///a"),
        ("haproxy", HAPROXY, '///a"'),
        ("haproxy", HAPROXY.replace(b"#22", rb"\x22\#22"), '///a\\x22\\"'),
        ("squid", rb'1769860800.2 1 1.1.1.1 M/200 2 GET http://b/\x22\" - - -', 'http://b/\\x22\\"'),
        ("squid", b"1769860800.250   12 1.1.1.1 MISS/200 2 CONNECT a.example:443 - - -", None),
    ],
)  # fmt: skip
def test_further_formats(log_format: str, line: bytes, url: str | None) -> None:
    found = reader(log_format)(line)
    assert (found and found.url) == url


def test_the_zone_of_a_layout_without_one() -> None:
    line = b"2026-01-31 17:30:00 /a"
    found = reader("%{%F %T}t $request_uri", "+0530")(line)
    assert found is not None
    assert (found.time, found.has_zone) == (1769860800.0, False)


@pytest.mark.parametrize("log_format", [*NAMED, *sorted({each[1] for each in READ} - {*NAMED})])
def test_steps_for_a_line_grow_with_its_length(log_format: str) -> None:
    """SAF-05: no part of a line is read again and again."""
    if not log_format.startswith("json:"):
        check_linear(compiled(NAMED.get(log_format, log_format))[0])
