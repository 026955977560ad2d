"""USE: usage preferences of a file, and how they are combined with a response's header."""

from __future__ import annotations

import pytest

from scrapy_robotspec import EDITIONS, RobotsTxt, Usage

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)

SITE = "https://example.com"
ALLOW, DISALLOW = "allow", "disallow"


def group(*lines: str) -> bytes:
    """A file with one group for every crawler."""
    return "\n".join(("User-agent: *", *lines, "")).encode()


def preferences(
    body: bytes, path: str = "/page", token: str = "FooBot", edition: str = "google-2019"
) -> dict[str, str]:
    """The preferences of one page."""
    usage = RobotsTxt.parse(body, edition).usage(SITE + path, token)
    assert usage.applies
    return dict(usage.preferences)


def test_equal_patterns_in_two_spellings_are_the_same_path() -> None:
    """USE-02: paths are compared in their canonical form."""
    body = group("Content-Usage: /%7Ea search=y", "Content-Usage: /~a search=n")
    usage = RobotsTxt.parse(body).usage(f"{SITE}/~a/b", "FooBot")
    assert usage.preferences == {"search": DISALLOW}
    assert [statement.path for statement in usage.statements] == ["/%7Ea", "/~a"]


def test_different_patterns_of_one_length_combine() -> None:
    """USE-02: neither is more specific than the other."""
    body = group("Content-Usage: /*b search=n", "Content-Usage: /ab search=y")
    assert preferences(body, "/ab") == {"search": DISALLOW}
    assert preferences(body, "/cb") == {"search": DISALLOW}


@pytest.mark.parametrize(
    ("file", "header", "combined"),
    [
        ("y", "n", {"search": DISALLOW}),
        ("n", "y", {"search": DISALLOW}),
        ("y", "y", {"search": ALLOW}),
        ("n", "n", {"search": DISALLOW}),
        ("y", "?1", {"search": ALLOW}),
        ("n", "?1", {"search": DISALLOW}),
        ("?1", "y", {"search": ALLOW}),
        ("?1", "?1", {}),
    ],
)
def test_any_disallow_wins_then_any_allow(file: str, header: str, combined: dict[str, str]) -> None:
    """USE-04, USE-05: file and header are combined label by label."""
    of_file = RobotsTxt.parse(group(f"Content-Usage: search={file}")).usage(SITE, "FooBot")
    usage = of_file | Usage.from_header(f"search={header}")
    assert usage.preferences == combined
    assert [statement.source for statement in usage.statements] == ["content-usage", "header"]


def test_content_signal_in_test_is_offered_as_written() -> None:
    """USE-07: ``use=`` states a preference for none of the labels."""
    robots = RobotsTxt.parse(group("Content-Signal: / search=yes, use=reference # test"))
    (statement,) = robots.usage(SITE, "FooBot").statements
    assert (statement.source, statement.value, statement.path, statement.line) == (
        "content-signal",
        "search=yes, use=reference",
        "/",
        2,
    )


@in_every_edition
def test_group_of_usage_lines_alone_is_followed(edition: str) -> None:
    """USE-08: its agent does not follow the statements of the default group."""
    body = (
        b"User-agent: FooBot\nContent-Usage: train-ai=n\n\n"
        b"User-agent: BarBot\nContent-Usage: search=n\n"
        b"Disallow: /x\nContent-Usage: train-ai=y\n"
    )
    assert preferences(body, token="FooBot", edition=edition) == {"train-ai": DISALLOW}
    of_bar = {"search": DISALLOW, "train-ai": ALLOW}
    assert preferences(body, token="BarBot", edition=edition) == of_bar


@in_every_edition
def test_signals_hold_for_the_agents_above_them(edition: str) -> None:
    """USE-08, EXT-01: a Content-Usage line does not end their list of agents."""
    if EDITIONS[edition].blank_line_ends_group:
        pytest.skip("every user-agent line of one record")
    body = (
        b"User-agent: FooBot\nContent-Usage: search=n\n"
        b"User-agent: BarBot\nContent-Signal: ai-train=no\nDisallow: /x\n"
    )
    both = {"search": DISALLOW, "train-ai": DISALLOW}
    assert preferences(body, token="FooBot", edition=edition) == both
    assert preferences(body, token="BarBot", edition=edition) == {"train-ai": DISALLOW}
