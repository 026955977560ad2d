"""Keys of ROBOTSPEC_OVERRIDES: hosts, hosts with ports, subdomains; the most specific wins."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access import overrides
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.overrides import HostTable, Override, host_key


def found(url: str, *keys: str) -> str | None:
    """The key that decides for *url*."""
    origin = Origin.of(url)
    assert origin is not None
    override = HostTable({host_key(key): Override(token=(key,)) for key in keys}).find(origin)
    return None if override is None or override.token is None else override.token[0]


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("example.com", "http://example.com/"),
        ("Example.COM", "https://example.com:8443/"),
        ("example.com.", "http://example.com/"),
        ("müller.example", "http://xn--mller-kva.example/"),
        ("127.0.0.1", "http://127.0.0.1:8000/"),
        ("[::1]", "http://[0:0::1]:8000/"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("localhost", "ftp://localhost/"),
        ("localhost:21", "ftp://localhost/"),
        ("example.com:443", "https://example.com/"),
        ("example.com:80", "http://example.com/"),
        ("example.com:8080", "http://example.com:8080/"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("*.example.com", "http://www.example.com/"),
        ("*.Example.com", "https://a.b.example.com:8443/"),
        ("*.com", "http://example.com/"),
        ("*.müller.example", "http://www.xn--mller-kva.example/"),
    ],
)
def test_a_key_fits_the_origins_it_names(name: str, url: str) -> None:
    """LOC-05, LOC-10: case, trailing dot, international names, addresses."""
    assert found(url, name) == name


@pytest.mark.parametrize(
    "name",
    [
        *["", "*", "*.", "**", "*.*", "127.0.0.*", "ex*mple.com", ".example.com", "*example.com"],
        *["*..example.com", "*.example.com:80", "*.0.0.1", "*.::1", "*.[::1]", "::1"],
        *["http://example.com", "example.com/", "example.com:", "example.com:x", "h:99999"],
        *["h:80:81", "[::1]:", "a b", "u@h", "h?x", 7, None],
    ],
    ids=repr,
)
def test_any_other_key_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match="a host") as caught:
        host_key(name)
    assert repr(name) in str(caught.value)


def test_the_most_specific_key_wins() -> None:
    keys = ["*.com", "*.example.com", "*.b.example.com", "a.b.example.com", "a.b.example.com:8080"]
    for order in (keys, keys[::-1]):
        assert found("http://a.b.example.com:8080/", *order) == "a.b.example.com:8080"
        assert found("http://a.b.example.com/", *order) == "a.b.example.com"
        assert found("http://c.b.example.com/", *order) == "*.b.example.com"
        assert found("http://b.example.com/", *order) == "*.example.com"
        assert found("http://example.com/", *order) == "*.com"
        assert found("http://example.org/", *order) is None


def test_what_is_found_is_remembered_for_a_bounded_number_of_origins() -> None:
    every, seventh = Override(crawl_delay=1.0), Override(crawl_delay=7.0)
    table = HostTable({"*.example": every, "7.example": seventh})
    for number in range(2 * overrides._MAX_FOUND):
        origin = Origin("http", f"{number}.example", 80)
        expected = seventh if number == 7 else every
        assert table.find(origin) is table.find(origin) is expected
    assert table.find.cache_info().currsize <= overrides._MAX_FOUND
