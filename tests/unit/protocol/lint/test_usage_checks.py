"""USE-01: preferences that a statement with a longer path hides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lint import usage_checks
from scrapy_robotspec.protocol.lint.usage_checks import Statement, check_hidden
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import Preference, UsageSource, parse_preferences
from tests.unit.protocol.lint.test_effects import letters

usage_lines = st.builds(
    "Content-{}{}".format,
    st.sampled_from(["Usage: ", "Usage: /x ", "Usage: /x/ ", "Usage: /y ", "Signal: /x "]),
    st.sampled_from(["train-ai=n", "search=y", "search=n, train-ai=y", "search=no", "x"]),
)
usage_files = st.lists(
    st.one_of(usage_lines, st.sampled_from(["User-agent: a", "User-agent: b", "Allow: /", ""])),
    max_size=12,
).map("\n".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(body=usage_files)
@example(
    "User-agent: a\nContent-Usage: search=n\nContent-Usage: /x train-ai=y\nAllow: /\n"
    "User-agent: a\nContent-Usage: /x search=n"
)
@example("User-agent: a\nContent-Usage: search=y\nUser-agent: b\nContent-Usage: /x train-ai=n")
@example("User-agent: a\nContent-Usage: /x search=y\nContent-Usage: /y train-ai=n")
@example("User-agent: a\nContent-Usage: /x search=y\nContent-Usage: /x* train-ai=n")
@example("User-agent: a\nContent-Signal: /x search=no\nContent-Usage: /x/ train-ai=n")
def test_a_hidden_preference_is_unknown_for_some_crawler(body: str) -> None:
    """USE-01: whose group states it for the shorter path."""
    robots = RobotsTxt.parse(body.encode())
    for finding in robots.lint():
        if finding.code != "RS505":
            continue
        _, label, rest = finding.message.split('"', 2)
        number = int(rest.removeprefix(" of line ").partition(";")[0])
        path = finding.text.split()[1]
        source = finding.text.partition(":")[0].lower()
        rules = map(robots.usage_rules, ("a", "b"))
        assert any(
            number
            in {
                each.line
                for each in some.statements
                if each.source == source and path.startswith(each.path or "/")
            }
            and not any(
                label in each.preferences
                for each in some.find(f"https://h{path}").statements
                if each.source == source
            )
            for some in rules
        ), finding


def test_usage_statement_that_hides_two_preferences_names_both() -> None:
    """USE-01: the longest path decides alone."""
    body = b"User-agent: *\nDisallow:\nContent-Usage: a=n, b=y\nContent-Usage: /a/ c=n\n"
    hidden = [f.message for f in RobotsTxt.parse(body).lint() if f.code == "RS505"]
    assert ['"a" of line 3' in hidden[0], '"b" of line 3' in hidden[1]] == [True, True]


def test_message_names_the_values_of_the_label() -> None:
    """USE-07: ``use`` has values of its own."""
    body = b"User-agent: *\nContent-Signal: use=maybe, search=maybe\nDisallow: /x/\n"
    messages = [finding.message for finding in RobotsTxt.parse(body).lint()]
    assert [message.partition(";")[0] for message in messages] == [
        'The value of "use" is not immediate or reference or full',
        'The value of "search" is not yes or no',
    ]


def test_names_are_not_multiplied_with_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: 1,000 statements in turn with 1,000 names, each for all names above it.

    Other lines beside them are compared with no name.
    """
    copied: list[int] = []

    class Keys(list[str]):
        def __getitem__(self, at: Any) -> Any:
            found = super().__getitem__(at)
            copied.append(len(found))
            return found

    lines = (
        f"User-agent: {letters(n)}\nContent-Signal: search=no\nHost: h\n" for n in range(1_000)
    )
    every = AllGroups("".join(lines).encode(), EDITIONS["google-2019"])
    (group,) = every.groups
    group.keys = Keys(group.keys)
    found: list[Statement] = []

    def noted(statements: Iterable[Statement]) -> Iterator[Any]:
        found.extend(statements)
        return iter(())

    monkeypatch.setattr(usage_checks, "_hidden", noted)
    assert not list(check_hidden(every))
    assert len({each.line for each in found}) == 1_000
    assert len(found) < 25 * 1_000
    assert len(copied) == 1_000
    assert sum(copied) < 25 * 1_000


def test_signals_above_all_groups_are_not_multiplied_with_crawlers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SAF-02: 1,000 of them, and 1,000 crawlers with a statement of their own."""
    read: list[str] = []

    def counted(source: UsageSource, value: str) -> dict[str, Preference]:
        read.append(value)
        return parse_preferences(source, value)

    monkeypatch.setattr(usage_checks, "parse_preferences", counted)
    lines = ["Content-Signal: a=no\n"] * 1_000
    lines += [f"User-agent: {letters(n)}\nContent-Usage: a=y\n" for n in range(1_000)]
    RobotsTxt.parse("".join(lines).encode()).lint()
    assert len(read) < 25 * 1_000


#: Parts that both fields have, in their own words, and what no one reads.
PARTS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(
        ["ai-train", "AI-Train", "search", "train-ai", "Search", "use", "a b", "", "é"]
    ),
    st.sampled_from(["=", " = ", "=\t", ":", ""]),
    st.sampled_from(["no", "No", "YES", "n", "y", "full", "maybe", "", "no;search=yes", "n;a"]),
    st.sampled_from(["", " ", ";"]),
)
VALUES = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "/a ", "/a\t", "a/ ", "* "]),
    st.lists(PARTS, max_size=3).map(", ".join),
)
UNREAD = ("RS501", "RS502", "RS503", "RS504")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(field=st.sampled_from(["Content-Usage", "Content-Signal"]), value=VALUES)
@example("Content-Signal", "ai-train=No")
@example("Content-Signal", "ai-train = no")
@example("Content-Signal", "ai-train=no;search=yes")
@example("Content-Signal", "search=yes, ai-train=no;search=yes")
@example("Content-Usage", "train-ai=n, Search=y")
def test_what_is_said_of_a_line_is_what_is_read(field: str, value: str) -> None:
    """USE-04, USE-07: in every edition; the statement of the file is the judge."""
    for edition in EDITIONS:
        robots = RobotsTxt.parse(f"User-agent: *\nAllow: /\n{field}: {value}".encode(), edition)
        found = [each for each in robots.lint() if each.line == 3 and each.code in UNREAD]
        statement = robots.usage_rules(()).statements[0]
        stated, whole = statement.preferences, "reads no preference."
        if any(whole in each.message for each in found):
            assert stated == {}
        if not stated and "use=full" not in statement.value.lower().replace(" ", ""):
            assert found, (edition, value)
        parts = statement.value.split(",")
        if not found and field == "Content-Signal":  # each part is read
            words = {"no": "disallow", "yes": "allow"}
            read = {words.get(part.rpartition("=")[2].strip().lower(), "") for part in parts}
            assert read - {""} >= {*stated.values()}
        for each in found:
            if each.code == "RS503" and field == "Content-Signal" and len(parts) == 1:
                assert stated == {}


REACHING = st.lists(
    st.one_of(
        usage_lines.filter(lambda line: "/" not in line),
        st.sampled_from(["User-agent: a", "User-agent: b", "User-agent: *", "Allow: /", ""]),
        st.sampled_from(["Disallow: /", "Disallow: /a", "User-agent: __usage_ai-training"]),
    ),
    max_size=12,
).map("\n".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(body=REACHING)
@example("User-agent: *\nContent-Signal: search=no\nAllow: /\nUser-agent: a\nDisallow: /a")
def test_statements_that_do_not_reach_a_crawler_are_found(body: str) -> None:
    """RS509: if and only if one has none that may fetch a page, and those of ``*`` have one."""
    robots = RobotsTxt.parse(body.encode())

    def has_statement(*tokens: str) -> bool:
        found = robots.usage_rules(tokens).statements
        return any(each.source != "policy-token" for each in found)

    named = {token for group in robots.groups for token in group.tokens} & {"a", "b"}
    missed = [
        each
        for each in sorted(named)
        if not has_statement(each) and any(robots.allowed(path, each) for path in ("/", "/x", "/a"))
    ]
    found = [each.message for each in robots.lint() if each.code == "RS509"]
    if has_statement():
        assert bool(found) is bool(missed)
        assert all(f'"{each}"' in found[0] for each in missed)
    assert not (found and has_statement() and has_statement("a") and has_statement("b"))
