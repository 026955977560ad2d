"""``editions`` without a URL: the paths that it makes, and the questions about each crawler."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.cli import differences
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.command_line import RunCommand

NAMES = [f"bot{a}{b}" for a in "abcde" for b in "abcde"]
COMMAND = ("editions", "many.txt", "--each-token", "--all", "--json")


def test_each_crawler_is_asked_about_the_rules_that_it_follows(
    run_command: RunCommand, folder: Path
) -> None:
    """Time does not grow with crawlers times rules."""
    groups = [f"User-agent: {name}\nDisallow: /{name}\n" for name in NAMES]
    (folder / "many.txt").write_text("".join([*groups, "User-agent: *\nDisallow: /any\n"]))
    asked: dict[str, set[str]] = {}
    for line in run_command(*COMMAND).out.splitlines():
        row = json.loads(line)
        asked.setdefault("".join(row["tokens"]), set()).add(row["url"])
    assert asked == {
        **{name: {"/", f"/{name}", f"/{name}x"} for name in NAMES},
        "": {"/", "/any", "/anyx"},
    }


def test_rules_that_editions_follow_for_one_crawler_are_all_asked_about(
    run_command: RunCommand, folder: Path
) -> None:
    """An edition that follows another group than the others differs by that group's rules."""
    (folder / "many.txt").write_text(
        "User-agent: example\nDisallow: /named\n\nUser-agent: *\nDisallow: /any\n"
    )
    result = run_command("editions", "many.txt", "--token", "examplebot")
    assert result.code == 1
    assert "/any  (" in result.out
    assert "/named  (" in result.out


def test_many_crawlers_of_one_group_share_a_number_of_questions(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each crawler is asked about some paths in any case."""
    monkeypatch.setattr(differences, "_MOST_QUESTIONS", 100)
    agents = [f"User-agent: {name}\n" for name in NAMES]
    rules = [f"Disallow: /{number}\n" for number in range(50)]
    (folder / "many.txt").write_text("".join([*agents, *rules]))
    rows = [json.loads(line) for line in run_command(*COMMAND).out.splitlines()]
    numbers = Counter("".join(row["tokens"]) for row in rows)
    assert numbers == {**dict.fromkeys(NAMES, 100 // 26), "": 1}


PATTERN = st.builds(
    lambda head, rest: head + "".join(rest),
    st.sampled_from(["/", "/*", "*", "/a"]),
    st.lists(st.sampled_from(["*", "$", "/", "a", "%41", "?q=", ".php", "é"]), max_size=5),
)


@settings(max_examples=100)
@given(st.lists(PATTERN, min_size=1, max_size=5))
def test_each_rule_matches_one_of_the_paths(patterns: list[str]) -> None:
    """Whatever a rule says, one of the paths finds out; without it a diff could miss a change."""
    lines = ["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns)]
    robots = RobotsTxt.parse("\n".join(lines).encode())
    paths = differences.sample_paths(robots.groups)
    found = {rule.line for path in paths for rule in robots.matches(path, ())}
    assert found == set(range(2, 2 + len(patterns)))
