"""LOC: where a robots.txt is found, and the URLs it is valid for."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.tables import HERE, read_toml
from scrapy_robotspec.access.origin import Origin

TABLE = read_toml(HERE / "location.toml")


def rows(kind: str) -> list[Any]:
    """The rows of a kind, named by their IDs."""
    return [pytest.param(row, id="+".join(row["ids"])) for row in TABLE[kind]]


def origin_of(url: str) -> Origin:
    origin = Origin.of(url)
    assert origin is not None, url
    return origin


@pytest.mark.parametrize("row", rows("file"))
def test_file_is_valid_for_these_urls(row: dict[str, Any]) -> None:
    """LOC-02 to LOC-10: the URLs of the row have this robots.txt, and one origin."""
    own = origin_of(row["robots"])
    for url in row["valid"]:
        assert origin_of(url).robots_url == row["robots"], url
        assert origin_of(url) == own
        assert hash(origin_of(url)) == hash(own)


@pytest.mark.parametrize("row", rows("file"))
def test_file_is_not_valid_for_those_urls(row: dict[str, Any]) -> None:
    """LOC-02 to LOC-10: those URLs belong to another origin, with a robots.txt of its own."""
    for url in row["invalid"]:
        assert origin_of(url).robots_url != row["robots"], url
        assert origin_of(url) != origin_of(row["robots"])


@pytest.mark.parametrize("row", rows("none"))
def test_url_has_no_robots_txt(row: dict[str, Any]) -> None:
    """LOC-11, LOC-12: nothing governs these URLs, and nothing raises."""
    for url in row["urls"]:
        assert Origin.of(url) is None, url


@pytest.mark.parametrize("url", ["http://example.com/a/b", "https://example.com", "ftp://x:1/"])
def test_file_is_in_the_top_directory_in_lower_case(url: str) -> None:
    """LOC-01, LOC-04: /robots.txt and no other place, all lower case."""
    robots_url = origin_of(url).robots_url
    assert robots_url.endswith("/robots.txt")
    assert robots_url.count("/") == 3


def test_user_info_is_nowhere() -> None:
    """LOC-10, LOC-06: neither the robots.txt URL nor the origin's own text holds a password."""
    origin = origin_of("ftp://user:secret@example.com/file")
    assert "secret" not in f"{origin.robots_url} {origin} {origin!r}"
    assert "user" not in f"{origin.robots_url} {origin} {origin!r}"
