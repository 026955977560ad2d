"""The statements of a file that hold for a URL (USE-01 to USE-08)."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest

from scrapy_robotspec.protocol import usage
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import split_path


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (b"train-ai=n", (b"", b"train-ai=n")),
        (b"/a train-ai=n", (b"/a", b"train-ai=n")),
        (b"/a \t train-ai=n, search=y", (b"/a", b"train-ai=n, search=y")),
        (b"/a", (b"/a", b"")),
    ],
)
def test_a_path_stands_before_the_preferences(value: bytes, parts: tuple[bytes, bytes]) -> None:
    """USE-01."""
    assert split_path(value) == parts


@pytest.mark.parametrize(
    ("path", "labels"),
    [("/", "a"), ("/x", "b"), ("/x/y", "cd"), ("/x/yz", "cd"), ("/x/z/y", "d")],
)
def test_the_longest_paths_decide_with_and_without_wildcards(path: str, labels: str) -> None:
    """USE-02: all statements with an equally long path."""
    lines = ["a=n", "/x b=n", "/x/y c=n", "/x*y d=n"]
    body = "User-agent: *\n" + "".join(f"Content-Usage: {line}\n" for line in lines)
    usage = RobotsTxt.parse(body.encode()).usage(f"https://h{path}", "bot")
    assert usage.preferences == dict.fromkeys(labels, "disallow")


@pytest.mark.parametrize("edition", ["google-2019", "classic"])
def test_lines_outside_of_groups_hold_for_all(edition: str) -> None:
    """USE-06, USE-07: a signal before the first group, a license anywhere."""
    body = b"Content-Signal: search=no\nUser-agent: a\nDisallow: /a\n\nLicense: https://h/l\n\n"
    robots = RobotsTxt.parse(body + b"Content-Signal: ai-input=no\n", edition)
    stated = robots.usage("https://h/", "a").preferences
    assert stated["search"] == "disallow"
    assert ("ai-input" in stated) is (edition == "google-2019")
    assert robots.licenses == ("https://h/l",)


def test_statements_are_put_in_order_once_for_each_deciding_path() -> None:
    """SAF-02: a page of a file with many statements costs no more than with one."""
    lines = "".join(f"Content-Usage: x{number}=n\n" for number in range(1_000))
    body = f"User-agent: *\n{lines}Content-Usage: /a x=y\n"
    rules = RobotsTxt.parse(body.encode()).usage_rules("bot")
    with patch.object(usage, "usage_of", wraps=usage.usage_of) as made:
        for number in range(20):
            assert rules.find(f"https://h/a/{number}").preferences == {"x": "allow"}
            assert len(rules.find(f"https://h/{number}").preferences) == 1_000
    assert made.call_count == 2


@pytest.mark.parametrize("path", ["/a/b", "/b"])
def test_a_page_of_a_file_with_paths_needs_few_calls(path: str) -> None:
    """Each page of a site that states preferences asks for its usage."""
    body = b"User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: /a/ train-ai=n\n"
    rules = RobotsTxt.parse(body).usage_rules("bot")
    calls: list[str] = []
    rules.find(f"https://h{path}")
    sys.setprofile(lambda frame, event, _: calls.append(f"{event} {frame.f_code.co_name}"))
    try:
        found = rules.find(f"https://h{path}")
    finally:
        sys.setprofile(None)
    assert found.preferences == {"train-ai": "disallow" if path == "/a/b" else "allow"}
    assert sum(call.startswith("call") for call in calls) <= 4
