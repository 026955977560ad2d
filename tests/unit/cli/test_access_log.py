"""The requests of an access log that a command line names."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_robotspec.cli.access_log import AccessLog, absolute_url
from scrapy_robotspec.cli.session import Screen

LINE = '192.0.2.7 - - [31/Jan/2026:12:00:01 +0000] "GET /n%d HTTP/1.1" 200 5 "-" "bot/1.0"\n'


def test_a_log_that_grows_is_read_to_its_end(tmp_path: Path) -> None:
    """The reader counts lines that are written meanwhile, and no half of a line."""
    path = tmp_path / "access.log"
    path.write_text("".join(LINE % number for number in range(1000)))
    log = AccessLog(str(path), Screen(quiet=True), None, None)
    requests = log.requests("https://shop.example")
    urls = [next(requests)[1]]
    with path.open("a") as file:
        file.write("".join(LINE % number for number in range(1000, 2000)) + LINE[:70] % 2000)
    urls += [url for _, url in requests]
    assert urls == [f"https://shop.example/n{number}" for number in range(2000)]
    assert (log.read, log.not_read) == (2000, 1)


@pytest.mark.parametrize("end", range(1, len(LINE) - 1))
def test_a_line_that_is_half_written_is_read_right_or_not_at_all(tmp_path: Path, end: int) -> None:
    path = tmp_path / "access.log"
    path.write_text(LINE % 1 + (LINE % 2)[:end])
    log = AccessLog(str(path), Screen(quiet=True), None, None)
    urls = [url for _, url in log.requests("https://shop.example")]
    assert urls in (["https://shop.example/n1"], [f"https://shop.example/n{n}" for n in (1, 2)])


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
