"""Lifetimes from HTTP's caching fields (CAC-01, CAC-03) and Retry-After (FET-11)."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.outcome import parse_cache_control, retry_after

from .simulation import FILE, ORIGIN, policy

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT
IN_AN_HOUR = "Sun, 06 Nov 1994 09:49:37 GMT"
TEN_MINUTES_AGO = "Sun, 06 Nov 1994 08:39:37 GMT"
#: In the three forms of a date.
TEN_MINUTES = (
    TEN_MINUTES_AGO,
    "Sunday, 06-Nov-94 08:39:37 GMT",
    "Sun Nov  6 08:39:37 1994",
)
NOW_DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def lifetime(headers: dict[str, str], now: float, **settings: float) -> float:
    """Seconds for which a file with *headers* is fresh."""
    file = replace(FILE, headers=headers)
    record = policy("google-2019", **settings).apply(None, ORIGIN, file, now, 0.0)
    assert record.lifetime is not None
    return record.lifetime


def fresh_for(**headers: str) -> float:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lifetime(named, NOW, ttl=86_400, min_ttl=300, max_ttl=86_400)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 86_400),
        ({"cache_control": "max-age=3600"}, 3600),
        ({"cache_control": "public, MAX-AGE = 3600 , foo"}, 3600),
        ({"cache_control": 'max-age="3600"'}, 3600),
        ({"cache_control": 'ext="a, max-age=7, b", max-age=3600'}, 3600),
        ({"cache_control": "max-age=3600, max-age=7200"}, 300),
        ({"cache_control": "max-age=3600, max-age=3600"}, 3600),
        ({"cache_control": r'ext="\", max-age=7, ", max-age=3600'}, 3600),
        ({"cache_control": 'max-age="3600'}, 300),
        ({"cache_control": 'no-cache, no-cache="a", max-age=3600'}, 300),
        ({"cache_control": "s-maxage=1800, max-age=3600"}, 1800),
        ({"cache_control": "max-age=3600, s-maxage=1800"}, 1800),
        ({"cache_control": "max-age=3600", "expires": NOW_DATE}, 3600),
        ({"cache_control": "max-age=3600", "age": "600"}, 3000),
        ({"cache_control": "max-age=3600", "age": "7200"}, 300),
        ({"cache_control": "max-age=3600", "age": "soon"}, 3600),
        ({"cache_control": "max-age=3600", "age": "40, 10"}, 3560),
        ({"cache_control": "max-age=3600", "date": TEN_MINUTES_AGO}, 3000),
        ({"cache_control": "max-age=3600", "date": TEN_MINUTES_AGO, "age": "900"}, 2700),
        ({"cache_control": "max-age=3600", "date": IN_AN_HOUR}, 3600),
        *(({"cache_control": "max-age=3600", "date": f"{d}, {d}"}, 3000) for d in TEN_MINUTES),
        ({"cache_control": "max-age=3600", "date": ", ".join(TEN_MINUTES)}, 3000),
        ({"cache_control": "max-age=3600", "date": f"{TEN_MINUTES_AGO}, {NOW_DATE}"}, 3600),
        ({"cache_control": "max-age=3600", "age": "600, 600"}, 3000),
        ({"expires": "0, 0"}, 300),
        ({"expires": f"0, {IN_AN_HOUR}"}, 300),
        ({"date": TEN_MINUTES_AGO}, 86_400),
        ({"cache_control": "max-age=1"}, 300),
        ({"cache_control": "max-age=604800"}, 86_400),
        ({"cache_control": "max-age=" + "9" * 5000}, 86_400),
        ({"cache_control": "no-store"}, 300),
        ({"cache_control": "no-cache, max-age=3600"}, 300),
        ({"cache_control": 'no-cache="set-cookie", max-age=3600'}, 3600),
        ({"cache_control": "must-revalidate, private"}, 86_400),
        ({"expires": IN_AN_HOUR}, 3600),
        ({"expires": IN_AN_HOUR, "age": "600"}, 3000),
        ({"expires": NOW_DATE}, 300),
        ({"expires": "0"}, 300),
        ({"expires": IN_AN_HOUR, "date": "Sun, 06 Nov 1994 09:29:37 GMT"}, 1200),
        ({"expires": IN_AN_HOUR, "date": "yesterday"}, 3600),
        ({"expires": IN_AN_HOUR, "date": TEN_MINUTES_AGO}, 3600),
        ({"expires": f"{IN_AN_HOUR}, {IN_AN_HOUR}"}, 3600),
        ({"expires": f"{IN_AN_HOUR}, {TEN_MINUTES_AGO}"}, 300),
        ({"expires": "Sunday, 06-Nov-94 09:49:37 GMT, Sun Nov  6 10:49:37 1994"}, 300),
        ({"cache_control": "max-age=abc"}, 300),
        ({"cache_control": "max-age"}, 300),
        ({"cache_control": "max-age=, s-maxage=x", "expires": IN_AN_HOUR}, 300),
        ({"cache_control": "max-age=abc, s-maxage=1800"}, 1800),
        ({"cache_control": "max-age=\u0663\u0666"}, 300),
    ],
)
def test_cac03_lifetimes(headers: dict[str, str], seconds: float) -> None:
    """CAC-03: s-maxage, max-age, Expires in this order; age counts; invalid is the minimum."""
    assert fresh_for(**headers) == seconds


def test_cac01_cac03_the_bounds_apply_to_the_headers_and_not_to_the_default() -> None:
    """CAC-01, CAC-03: a user's own short or long lifetime stands."""
    assert lifetime({}, NOW, ttl=5, min_ttl=300, max_ttl=600) == 5
    assert lifetime({}, NOW, ttl=9e9, min_ttl=300, max_ttl=600) == 9e9
    week = {"cache-control": "max-age=604800"}
    assert lifetime(week, NOW, ttl=86_400, min_ttl=300, max_ttl=1e9) == 604_800


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0),
        ("120", 120),
        (" 0 ", 0),
        ("9" * 5000, 2**31),
        (IN_AN_HOUR, 3600),
        ("Sunday, 06-Nov-94 09:49:37 GMT", 3600),
        ("Sun Nov  6 09:49:37 1994", 3600),
        ("Sun, 06 Nov 1994 07:49:37 GMT", 0),
        ("-5", 0),
        ("1.5", 0),
        ("soon", 0),
        ("", 0),
        ("400, 300", 400),
        (f"400, {IN_AN_HOUR}", 3600),
        (f"{IN_AN_HOUR}, 7200", 7200),
        (f"{NOW_DATE}, {IN_AN_HOUR}", 3600),
        ("Sun, 99 Nov 1994 09:49:37 GMT", 0),
    ],
)
def test_retry_after(value: str | None, seconds: float) -> None:
    """FET-11: seconds or any of HTTP's three kinds of date."""
    headers = {} if value is None else {"retry-after": value}
    assert retry_after(headers, NOW) == seconds


def test_dates_are_read_by_the_senders_clock() -> None:
    """A server whose clock is an hour fast does not make us wait an hour more."""
    headers = {"retry-after": "Sun, 06 Nov 1994 09:59:37 GMT", "date": IN_AN_HOUR}
    assert retry_after(headers, NOW) == 600


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_no_date_is_read_by_our_own_time_zone(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of date that names no zone is GMT too."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for date in ("Sun Nov  6 09:49:37 1994", "Sun, 06 Nov 1994 09:49:37 -0000", IN_AN_HOUR):
            assert retry_after({"retry-after": date}, NOW) == 3600
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_no_header_raises_or_leaves_the_bounds(
    cache_control: str, age: str, expires: str, date: str, retry: str
) -> None:
    """SAF-01 for headers."""
    headers = {"cache-control": cache_control, "age": age, "expires": expires, "date": date}
    assert lifetime(headers, NOW, ttl=1000, min_ttl=300, max_ttl=2000) == pytest.approx(1150, 1)
    assert retry_after({"retry-after": retry, "date": date}, NOW) >= 0


def test_directives_of_a_long_header_take_linear_time() -> None:
    """SAF-01: half a million characters are read like few."""
    assert parse_cache_control('="' * 100_000 + ", max-age=5")["max-age"] == "5"
    escaped = 'a="' + '\\"' * 100_000
    assert parse_cache_control(escaped + ", max-age=5") == {"a": "?"}
    assert "max-age" not in parse_cache_control("a=" + '"' + "b, " * 100_000)
