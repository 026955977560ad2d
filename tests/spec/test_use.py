"""USE: usage preferences of a file, and how they are combined with a response's header."""

from __future__ import annotations

import pytest

from scrapy_robotspec import EDITIONS, RobotsTxt, Usage
from tests.spec.table import DELIVERIES

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
in_every_delivery = pytest.mark.parametrize("delivery", DELIVERIES)

SITE = "https://example.com"
ALLOW, DISALLOW = "allow", "disallow"

#: The example of aipref-attach, section 3.4.
DRAFT = b"""\
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


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


# --- the example of the draft


# --- values and paths


@pytest.mark.parametrize("edition", sorted(set(EDITIONS) - {"google"}))
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/caf%C3%A9/", "/caf%c3%a9/x"), ("/café/", "/caf%C3%A9/x"), ("/%61b", "/ab"),
        ("/a%20b", "/a b"), ("/a%09b", "/a%09b"),
    ],
)  # fmt: skip
def test_paths_are_escaped_like_those_of_rules(edition: str, pattern: str, path: str) -> None:
    """USE-01: a space or tab of a path is written as an escape."""
    body = group(f"Content-Usage: {pattern} search=n")
    assert preferences(body, path, edition=edition) == {"search": DISALLOW}


@in_every_edition
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("path", ["", "/ ", "/page "])
def test_same_path_combines_to_the_most_restrictive(edition: str, path: str, reverse: bool) -> None:
    """USE-02: unlike Allow and Disallow, and in any order of the lines."""
    lines = [
        f"Content-Usage: {path}train-ai=y, search=y",
        f"Content-Usage: {path}train-ai=n",
        f"Content-Usage: {path}train-ai=maybe, ai-input",
    ]
    body = group(*(reversed(lines) if reverse else lines))
    assert preferences(body, edition=edition) == {"train-ai": DISALLOW, "search": ALLOW}


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


@in_every_edition
def test_disallowed_page_has_no_preference(edition: str) -> None:
    """USE-03: neither "disallow" nor "allow", but none at all."""
    robots = RobotsTxt.parse(group("Disallow: /a", "Content-Usage: /a train-ai=y"), edition)
    assert robots.usage(f"{SITE}/a", "FooBot") == Usage(applies=False)
    assert robots.usage(f"{SITE}/b", "FooBot") == Usage(applies=True)


# --- dictionaries


@in_every_edition
@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ("train-ai=y, search=n", {"train-ai": ALLOW, "search": DISALLOW}),
        ('train-ai=y, train-ai, search=n, search="n"', {}),
        ("train-ai;allow=n, train-ai=y", {"train-ai": ALLOW}),
        ('train-ai;has;parameters="?";', {}),
        ("Train-AI=n", {}),
        ("Train-AI=n, search=y", {}),
        ("train-ai=N", {}),
        ("train-ai=yes", {}),
        ("train-ai=?0", {}),
        ("train-ai=0", {}),
        ("train-ai=(n)", {}),
        ("train-ai=n;x=y", {"train-ai": DISALLOW}),
        ("train-ai=n, train-ai=y", {"train-ai": ALLOW}),
        ("train-ai=n,, search=y", {}),
        ("train-ai=n,", {}),
        ("train-ai=n search=y", {}),
        ("train-ai=né", {}),
        ("a_label-of.my*own=n", {"a_label-of.my*own": DISALLOW}),
    ],
)
def test_dictionaries_of_file_and_header_mean_the_same(
    edition: str, value: str, stated: dict[str, str]
) -> None:
    """USE-04: the draft's examples first; only the tokens y and n mean anything."""
    assert preferences(group(f"Content-Usage: {value}"), edition=edition) == stated
    assert Usage.from_header(value).preferences == stated
    assert Usage.from_header(value.encode()).preferences == stated
    assert Usage.from_header(value.encode("latin-1")).preferences == stated


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


# --- licenses and content signals


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
def test_fields_are_sources_of_their_own(edition: str) -> None:
    """USE-04, USE-07: the path of one field hides no statement of the other."""
    body = group("Content-Usage: train-ai=n", "Content-Signal: /page ai-train=yes, search=yes")
    usage = RobotsTxt.parse(body, edition).usage(f"{SITE}/page", "FooBot")
    assert usage.preferences == {"train-ai": DISALLOW, "search": ALLOW}
    assert [statement.line for statement in usage.statements] == [2, 3]


# --- what usage lines leave alone


@in_every_edition
def test_statement_holds_for_the_agents_named_above_it(edition: str) -> None:
    """USE-08: a user-agent line after Content-Usage begins a new group of statements."""
    body = (
        b"User-agent: FooBot\nContent-Usage: train-ai=n\n"
        b"User-agent: BarBot\nContent-Usage: search=n\nDisallow: /x\n"
    )
    assert preferences(body, token="FooBot", edition=edition) == {"train-ai": DISALLOW}
    assert preferences(body, token="BarBot", edition=edition) == {"search": DISALLOW}
    robots = RobotsTxt.parse(body, edition)
    assert [robots.allowed(f"{SITE}/x", token) for token in ("FooBot", "BarBot")] == [False, False]


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
