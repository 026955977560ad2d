"""Access logs: each format is read, and lines that request no page are counted apart."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.evidence.access_logs import Request, parse
from tests.support.evidence import START

TIME = "31/Jan/2026:12:00:00 +0000"
COMBINED = f'1.2.3.4 - - [{TIME}] "GET /a HTTP/1.1" 200 5 "-" "bot/1.0"'


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
    ],
)
def test_lines_of_web_servers(line: str, url: str) -> None:
    assert common(line) == Request(START, 1.0, url)


@pytest.mark.parametrize(
    "request_line",
    ["-", "", "\\x16\\x03\\x01", "CONNECT a.example:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "GET"],
)
def test_requests_without_a_url_are_none(request_line: str) -> None:
    assert common(f'1.2.3.4 - - [{TIME}] "{request_line}" 400 0') is None


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
    assert cdxj("20260131120000", {"url": url}) == Request(START, 1.0, url)
    assert cdxj("20260131120000500", {"url": url}) == Request(START + 0.5, 0.001, url)
    assert parse(b'!meta {"format": "cdxj"}') is None
    with pytest.raises(ValueError, match="no url"):
        cdxj("20260131120000", {})


@pytest.mark.parametrize(
    ("time", "moment", "resolution"),
    [
        (START, START, 0.0),
        (int(START), START, 1.0),
        ("2026-01-31T12:00:00Z", START, 1.0),
        ("2026-01-31T12:00:00.5+00:00", START + 0.5, 0.0),
        ("2026-01-31T13:00:00+01:00", START, 1.0),
        ("2026-01-31 12:00:00", START, 1.0),
    ],
)
def test_json_lines(time: object, moment: float, resolution: float) -> None:
    line = json.dumps({"time": time, "url": "https://example.com/a", "more": 1}).encode()
    assert parse(line) == Request(moment, resolution, "https://example.com/a")


@pytest.mark.parametrize("time", ["soon", None, True, float("inf"), float("nan"), 1e300, []])
def test_json_lines_without_a_time_are_wrong(time: object) -> None:
    line = json.dumps({"time": time, "url": "https://example.com/a"}).encode()
    with pytest.raises(ValueError, match="no time"):
        parse(line)


@pytest.mark.parametrize("line", [b"garbage", b"", b"[]", b"2026-01-31 GET /a", b"{}"])
def test_a_line_of_another_format_is_wrong(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (JSON's own errors among them)
        parse(line)


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
