"""Access logs: each format is read, and lines that request no page are counted apart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.evidence import access_logs
from scrapy_robotspec.evidence.access_logs import Request, parse
from scrapy_robotspec.evidence.log_formats import reader
from tests.support.evidence import START
from tests.support.regex_steps import check_linear
from tests.support.server_logs import TARGETS, VALUES, as_apache, as_nginx

TIME = "31/Jan/2026:12:00:00 +0000"
COMBINED = f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5 "-" "bot/1.0"'
OF_HAPROXY = '"" "" 1 250 "f" "f" "s" 0 -1 -1 -1 0 LR-- 1 1 0 0 0 0 0 "" "" '


def common(line: str) -> Request | None:
    return parse(line.encode())


@pytest.mark.parametrize(
    ("line", "url"),
    [
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (COMBINED, "///a"),
        (f'[{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'1.2.3.4 jane - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'::1 - jane doe [{TIME}] "POST /a?b=c HTTP/2" 200 -', "///a?b=c"),
        (f'client.example - jane doe [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'client.example - - doe [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'1.2.3.4 - - [{TIME}] "GET /a b HTTP/1.1" 200 5', "///a b"),
        (f'1.2.3.4 - - [{TIME}] "GET /old" 200 5', "///old"),
        (f'1.2.3.4 - - [{TIME}] "GET //b/c HTTP/1.1" 200 5', "////b/c"),
        (f'a.example 1.2.3.4 - - [{TIME}] "GET //b/c HTTP/1.1" 200 5', "//a.example//b/c"),
        (f'1.2.3.4 - - [{TIME}] "GET http://a.example/b HTTP/1.1" 200 5', "http://a.example/b"),
        (f'a.example 1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "//a.example/a"),
        (f'a.example:443 1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200', "https://a.example/a"),
        (f'a.example:80 ::1 - jane [{TIME}] "GET /a HTTP/1.1" 200', "http://a.example/a"),
        (f'a.example:8080 1.2.3.4 - - [{TIME}] "GET / HTTP/1.1" 200', "//a.example:8080/"),
        (f'1.2.3.4 - - [{TIME}] "GET /\\"\\\\\\xc3\\xa9 HTTP/1.1" 200 5', '///"\\é'),
        (f'203.0.113.5 10.0.0.1 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'203.0.113.5, 10.0.0.2 10.0.0.1 - - [{TIME}] "GET /a HTTP/1.1" 200', "///a"),
        (f'2001:db8::7 10.0.0.1 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'- 10.0.0.1 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'"203.0.113.5" 10.0.0.1 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f'1.2.3.4 a.example - [{TIME}] "GET /a HTTP/1.1" 200 5', "//a.example/a"),
        (f'1.2.3.4 a.example:8080 - [{TIME}] "GET /a HTTP/1.1" 200 5', "//a.example:8080/a"),
        (f'::1 [::1]:8080 - [{TIME}] "GET /a HTTP/1.1" 200 5', "//[::1]:8080/a"),
        (f'1.2.3.4 - - [{TIME}] "VERSION-CONTROL /a HTTP/1.1" 200 5', "///a"),
        (f'1.2.3.4 - - [{TIME}] "GET /a"b HTTP/1.1" 200 5', '///a"b'),
        (f'1.2.3.4 - - [{TIME}] "GET /a" b HTTP/1.1" 200 5', '///a" b'),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/2.0" 200 5', "///a"),
        (f'1.2.3.4 - - [{TIME}] "GET /a b" 400 5', None),
        (f'1.2.3.4 192.0.2.1 - [{TIME}] "GET /a HTTP/1.1" 200 5', "//192.0.2.1/a"),
        (f'1.2.3.4 - - [{TIME}] "GET /\\x70rivate/\\n HTTP/1.1" 200 5', "///\\x70rivate/\\n"),
        (f'1.2.3.4 - - [{TIME}] "GET /\\x7ejoe/{{x\\x7d HTTP/1.1" 200 5', "///~joe/{x}"),  # h2o's
        (f'1.2.3.4 - - [{TIME}] "GET HTTP://a.example/b HTTP/1.1" 200', "HTTP://a.example/b"),
        (f'unknown 1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5', "///a"),
        (f"<134>Jan 31 12:00:00 web1 nginx: {COMBINED}", "///a"),
        (f"<190>1 2026-01-31T12:00:00.123Z web1 nginx 7 - - {COMBINED}", "///a"),
        (f'<190>1 2026-01-31T12:00:00Z web1 nginx - ID1 [x@1 a="b"] \ufeff{COMBINED}', "///a"),
        (f"Jan 31 12:00:00.123456 web1 nginx[7]: {COMBINED}", "///a"),
        (f"2026-01-31T13:00:00.123456789+01:00 stdout F a.example {COMBINED}", "//a.example/a"),
        (f"Jan  1 12:00:00 web1 nginx[7]: a.example {COMBINED}", "//a.example/a"),
        (f"2026-01-31T12:00:00.123456789Z {COMBINED}", "///a"),  # docker logs -t
        (f"2026-01-31T13:00:00.5+01:00 a.example {COMBINED}", "//a.example/a"),
        (f"web-1  | {COMBINED}", "///a"),  # docker compose logs
        (f"web-1  | 2026-01-31T12:00:00.123456789Z a.example {COMBINED}", "//a.example/a"),
        (f"[pod/web-7d4b/nginx] a.example {COMBINED}", "//a.example/a"),  # kubectl logs --prefix
        ('1.2.3.4 - - [2026-01-31T12:00:00+00:00] "GET /a HTTP/1.1" 200 5', "///a"),
        (
            COMBINED.replace("/a", "/\\x22\\#22").replace('"-" "bot/1.0"', OF_HAPROXY),
            '///\\x22\\"',
        ),
    ],
)
def test_lines_of_web_servers(line: str, url: str | None) -> None:
    found = common(line)
    assert (found and found[:4]) == (url and (START, 1.0, True, url))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f'a b c d [{TIME}] "GET /a HTTP/1.1" 200 5', "give --log-format"),
        (f'a.example jane [{TIME}] "GET /a HTTP/1.1" 200 5', "give --log-format"),
        (f'a.example [{TIME}] "GET /a HTTP/1.1" 200 5', "give --log-format"),
        (f'1.2.3.4 b\\xc3.example - [{TIME}] "GET /a HTTP/1.1" 200 5', "no valid host"),
        (f'1.2.3.4 a.example - x [{TIME}] "GET /a HTTP/1.1" 200 5', "give --log-format"),
        (f'1.2.3.4 200 "x [{TIME}] "GET /forged HTTP/1.1" 200 5', "give --log-format"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" -12 5 "-" "b"', "marks of its request line"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 2000 5 "-" "b"', "marks of its request line"),
        (
            f'1.2.3.4 - x [{TIME}] "GET /b HTTP/1.1" 200 5 [{TIME}] "GET /a HTTP/1.1" 200',
            "two times",
        ),
        (
            '{"time": 1769860800, "url": "http://a/b", "url": "http://a/c"}',
            "a member is there twice",
        ),
        ('{"ts": 1769860800, "request": {"uri": "/b", "host": "a/c"}}', "no valid host"),
        (f'1.2.3.4 - - [{TIME}] "GET /a 1.1" 200 5', "hypercorn"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1', "quotation marks of its request line"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5 "x" 1 "-" "y"', "marks of its headers"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5 "-" "a "b" c" "::1"', "of its headers"),
        (f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5 "-" "a" "b', "marks of its headers"),
        (f"2026-01-31T12:00:00Z stdout P {COMBINED[:-9]}", "marks of its headers"),
        ("#Fields: date time cs-uri-stem", "W3C extended log format is not read"),
        ("BZh91AY&SY", "compressed, and not by gzip"),
        ("PK\x03\x04", "compressed, and not by gzip"),
    ],
)
def test_what_cannot_be_told_is_refused_with_a_reason(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        common(line)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_each_line_of_utf_16_is_known(encoding: str) -> None:
    """A shell of Windows writes it where the output of a command goes to a file."""
    for line in f"{COMBINED}\r\n{COMBINED}".encode(encoding).split(b"\n"):
        with pytest.raises(ValueError, match="UTF-16: save it as UTF-8"):
            parse(line)


@pytest.mark.parametrize("status", ["200", "000", "0", "-1", "-"])
def test_requests_without_an_answer_have_their_user_agent(status: str) -> None:
    found = common(COMBINED.replace(" 200 ", f" {status} "))
    assert found is not None
    assert found == common(COMBINED)
    assert found.agent


@pytest.mark.parametrize(
    ("rest", "agent"),
    [
        ("", None),
        (' "-" "-"', ""),
        (' "-" "b\\"c" 17', 'b"c'),
        (' "-" "Mozilla/5.0\\t(compatible;\\tb/1)"', "Mozilla/5.0 (compatible; b/1)"),
        (' "-" "b\\\\t"', "b\\t"),  # a backslash that Apache escapes
        (' "-" ""E" b/1"', '"E" b/1'),  # of aiohttp, Paste and Squid, which escape nothing
        (' "-" "Mozilla/5.0 (x; "E" b/1)" TCP_MISS:HIER_NONE', 'Mozilla/5.0 (x; "E" b/1)'),
        (' "-" "" b" 0.1', '" b'),
        (' "-" "b/1" "203.0.113.5" rt=0.1 uct="0.1", [x y] ("z") -', "b/1"),
    ],
)
def test_user_agents(rest: str, agent: str | None) -> None:
    found = common(f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5{rest}')
    assert found is not None
    assert found.agent == agent


@pytest.mark.parametrize(
    "request_line",
    [
        *("-", "", "\\x16\\x03\\x01", "OPTIONS * HTTP/1.1", "GET"),
        *("CONNECT a.example:443 HTTP/1.1", "CONNECT http://b.examplea.example:443 HTTP/1.1"),
        "OPTIONS http://a.example* HTTP/1.1",
    ],
)
def test_requests_without_a_url_are_none(request_line: str) -> None:
    assert common(f'1.2.3.4 - - [{TIME}] "{request_line}" 400 0') is None


def test_a_web_socket_of_http2_has_a_path() -> None:
    found = common(f'1.2.3.4 - - [{TIME}] "CONNECT /chat HTTP/2.0" 200 0')
    assert found is not None
    assert found.url == "///chat"


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("31/Jan/2026:12:00:00 +0000", START),
        ("31/Jan/2026:13:00:00 +0100", START),
        ("31/Jan/2026:06:30:00 -0530", START),
        ("31/Jan/2026:12:00:00", START),
        ("01/Feb/2026:00:00:01 +1200", START + 1),
    ],
)
def test_times_of_web_servers_have_a_zone(time: str, seconds: float) -> None:
    found = common(f'1.2.3.4 - - [{time}] "GET / HTTP/1.1" 200 5')
    assert found is not None
    assert found.time == seconds


def cdxj(time: str, values: object) -> Request | None:
    return parse(f"com,example)/a {time} {json.dumps(values)}".encode())


def test_lines_of_an_archives_index() -> None:
    url = "https://example.com/a"
    assert cdxj("20260131120000", {"url": url}) == Request(START, 1.0, True, url)
    assert cdxj("20260131120000500", {"url": url}) == Request(START + 0.5, 0.001, True, url)
    assert parse(b'!meta {"format": "cdxj"}') is None
    exchange = {"url": url, "filename": "a.warc.gz"}
    assert cdxj("20260131120000", {**exchange, "mime": "text/html"}) is not None
    assert cdxj("20260131120000", exchange) is None  # the request of it, which counts already
    with pytest.raises(ValueError, match="no url"):
        cdxj("20260131120000", {})


def test_a_byte_of_another_encoding_in_json_is_read() -> None:
    """As nginx writes it with ``escape=json``."""
    found = parse(b'{"time": 1769860800, "url": "http://a.example/caf\xe9"}')
    assert found is not None
    assert found.url == "http://a.example/caf\udce9"


def test_lines_of_caddy() -> None:
    request = {"host": "a.example", "uri": "/a?b", "headers": {"User-Agent": ["bot/1.0"]}}
    line = json.dumps({"ts": START + 0.5, "request": request}).encode()
    assert parse(line) == Request(START + 0.5, 0.1, True, "http://a.example/a?b", "bot/1.0")
    line = json.dumps({"ts": START + 0.5, "request": {**request, "tls": {"proto": "h2"}}}).encode()
    assert parse(line) == Request(START + 0.5, 0.1, True, "https://a.example/a?b", "bot/1.0")


@pytest.mark.parametrize("log_format", [None, "combined"])
def test_lines_of_docker(log_format: str | None) -> None:
    """Its files; what it shows itself has no such frame."""
    line = {"log": f"{COMBINED}\n", "stream": "stdout", "time": "2026-01-31T12:00:09.1Z"}
    found = reader(log_format)(json.dumps(line, separators=(",", ":")).encode())
    assert found == Request(START, 1.0, True, "///a", "bot/1.0")
    line["log"] = json.dumps({"time": START, "url": "http://a.example/b", "log": {}})
    found = reader(log_format and "json:time=time,url=url")(json.dumps(line).encode())
    assert found == Request(START, 0.1, True, "http://a.example/b")


def test_a_zone_for_times_without_one() -> None:
    line = b'1.2.3.4 - - [31/Jan/2026:17:30:00] "GET / HTTP/1.1" 200 5'
    found, other = parse(line, "+0530"), parse(line)
    assert found is not None
    assert other is not None
    assert (found.time, found.has_zone, other.time) == (START, False, START + 5.5 * 3600)


@pytest.mark.parametrize(
    ("time", "moment", "resolution"),
    [
        (START + 0.25, START + 0.25, 0.01),
        (int(START), START, 1.0),
        ("2026-01-31T12:00:00Z", START, 1.0),
        ("2026-01-31T12:00:00.5+00:00", START + 0.5, 0.1),
        ("2026-01-31T13:00:00+01:00", START, 1.0),
        ("2026-01-31 12:00:00", START, 1.0),
        ("31/Jan/2026:12:00:00 +0000", START, 1.0),
        ("1769860800.25", START + 0.25, 0.01),
        (1769860800250, START + 0.25, 0.001),
    ],
)
def test_json_lines(time: object, moment: float, resolution: float) -> None:
    line = json.dumps({"time": time, "url": "https://example.com/a", "more": 1}).encode()
    found = parse(line)
    assert found is not None
    assert (found.time, found.url) == (moment, "https://example.com/a")
    assert found.resolution == pytest.approx(resolution)
    assert found.has_zone == (time != "2026-01-31 12:00:00")


@pytest.mark.parametrize("target", ["/a?b", "//a/b", "/"])
def test_a_path_in_a_url_of_json_is_one(target: str) -> None:
    """RFC 9112 section 3.2.1: it may begin with two slashes itself."""
    line = json.dumps({"time": START, "url": target, "host": "a.example"}).encode()
    for log_format, base in ((None, "//"), ("json:time=time,url=url,host=host", "//a.example")):
        found = reader(log_format)(line)
        assert found is not None
        assert found.url == base + target


@pytest.mark.parametrize(
    "time", ["soon", None, True, float("inf"), float("nan"), 1e300, -1.5, 1, []]
)
def test_json_lines_without_a_time_are_wrong(time: object) -> None:
    line = json.dumps({"time": time, "url": "https://example.com/a"}).encode()
    with pytest.raises(ValueError, match="no time"):
        parse(line)


@pytest.mark.parametrize("line", [b"garbage", b"", b"[]", b"2026-01-31 GET /a", b"{}"])
def test_a_line_of_another_format_is_wrong(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (JSON's own errors among them)
        parse(line)


HEADS = [b"192.0.2.7 - %b", b"shop.example:443 192.0.2.7 - %b", b"192.0.2.7 shop.example %b"]


def unescaped(raw: bytes) -> bytes:
    """A value as aiohttp logs it."""
    return raw


@given(
    st.sampled_from([as_apache, as_nginx, unescaped]), st.sampled_from(HEADS), VALUES, TARGETS,
    VALUES, VALUES,
)  # fmt: skip
def test_a_line_that_is_read_gives_exactly_the_url_that_was_asked_for(
    escape: Callable[[bytes], bytes],
    head: bytes,
    user: bytes,
    target: bytes,
    referer: bytes,
    agent: bytes,
) -> None:
    """A client can make its own line unreadable where a server escapes nothing, no more."""
    if escape is unescaped:  # an escape that was sent as it is cannot be told from another
        target = target.replace(b"\\", b"/")
    values = (user, b"GET %b HTTP/1.1" % target, referer, agent)
    user, request, referer, agent = map(escape, values)
    line = b'%b [%b] "%b" 200 5 "%b" "%b"' % (head % user, TIME.encode(), request, referer, agent)
    try:
        found = parse(line)
    except ValueError:
        assert escape is unescaped or b" " in user or not user  # behind lighttpd's host
        return
    assert found is not None
    path = found.url.partition("//")[2].partition("/")[2]
    assert f"/{path}".encode("utf-8", "surrogateescape") == target
    assert found.time == START


LIKE_LINES = st.builds(
    b"%b %b %b".__mod__,
    st.tuples(
        st.binary(max_size=9),
        st.from_regex(rb"\[\d\d/[A-Z][a-z]{2}/\d{4}:[\d:]{8}( [+-]\d{4})?\]|\d{14}(\d{3})?"),
        st.sampled_from([b'"GET /a HTTP/1.1" 200 5', b'{"url": "http://a/"}', b"{"]),
    ),
)


@given(st.binary() | st.text().map(str.encode) | LIKE_LINES)
def test_no_line_raises_anything_but_a_value_error(line: bytes) -> None:
    with suppress(ValueError, OverflowError):
        parse(line)


@pytest.mark.parametrize(
    "name", [name for name, each in vars(access_logs).items() if isinstance(each, re.Pattern)]
)
def test_steps_for_a_line_grow_with_its_length(name: str) -> None:
    """SAF-05: no part of a line is read again and again."""
    check_linear(getattr(access_logs, name), is_searched=name in ("_TIME", "_ESCAPE", "_HASH"))


def test_steps_are_counted() -> None:
    with pytest.raises(AssertionError):
        check_linear(re.compile("[^x]*a[^x]*x"))
