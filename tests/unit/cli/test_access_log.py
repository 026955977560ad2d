"""The requests of an access log that a command line names."""

from __future__ import annotations

import pytest

from scrapy_robotspec.cli.access_log import absolute_url


@pytest.mark.parametrize(
    ("url", "base", "absolute"),
    [
        ("http://a/x", None, "http://a/x"),
        ("/x", "https://example.com", "https://example.com/x"),
        ("/x", None, None),
        ("//example.com/x", None, "https://example.com/x"),
        ("//other.example/x", "http://b.example", "http://other.example/x"),
        ("///x", "https://example.com", "https://example.com/x"),
        ("////private/x", "https://example.com", "https://example.com//private/x"),
        ("////private/x", None, None),
    ],
)
def test_a_missing_scheme_is_that_of_the_given_origin(
    url: str, base: str | None, absolute: str | None
) -> None:
    assert absolute_url(url, base) == absolute
