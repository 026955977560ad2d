"""Options that several commands share: what they do, and which command gets them."""

from __future__ import annotations

import inspect
from itertools import combinations
from pathlib import Path

import click
import pytest

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.app import COMMANDS, robotspec
from scrapy_robotspec.cli.session import Session
from tests.support.command_line import RunCommand


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_reaches_its_command(name: str) -> None:
    """Alone, or in the value of several; a name of one kind of value is not another option."""
    command = robotspec.get_command(click.Context(robotspec), name)
    assert command is not None
    assert command.callback is not None
    left = {str(option.name) for option in command.params} - {"color", "quiet", "version"}
    wanted = inspect.signature(command.callback).parameters
    given = {"session"}
    for value, kind in options._KINDS.items():
        if left & set(kind._fields):
            given.add("session" if value in Session._fields else value)
            required = {field for field in kind._fields if field not in kind._field_defaults}
            assert left >= required, value
            left -= set(kind._fields)
    named = {each.name for each in wanted.values() if each.kind is not each.VAR_KEYWORD}
    assert given | left == named or (len(named) < len(wanted) and given | left > named)


def test_kinds_of_values_share_no_option() -> None:
    kinds = [set(kind._fields) for kind in options._KINDS.values()]
    assert not any(one & other for one, other in combinations(kinds, 2))


def test_quiet_leaves_answers_only(run_command: RunCommand) -> None:
    """No summary and no note; the exit code stays."""
    words = ("check", "robots.txt", "/cart/", "http://a.example/x", "http://b.example/")
    loud, quiet = run_command(*words), run_command(*words, "-q")
    assert quiet.code == loud.code == 1
    assert loud.err.endswith("\n3 answers: 2 allowed, 1 disallowed\n")
    assert (quiet.lines, quiet.err) == (loud.lines, "")


def test_colours_can_be_forced_and_refused(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--color wins over everything; FORCE_COLOR counts in a pipe."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    words = ("check", "robots.txt", "/cart/")
    assert "\x1b[31mdisallowed\x1b[0m" in run_command(*words, "--color").out
    assert "\x1b" not in run_command(*words).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m" in run_command(*words).out
    assert "\x1b" not in run_command(*words, "--no-color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run_command(*words).out


@pytest.mark.parametrize(
    "command",
    ["check many.txt / --each-token", "explain many.txt / --each-token",
     "show many.txt --each-token", "editions many.txt / --each-token", "diff many.txt many.txt"],
)  # fmt: skip
@pytest.mark.parametrize(
    "line", ["Disallow: /", "Sitemap: http://a.example/", "License: http://a/"]
)
def test_crawlers_with_too_many_lines_are_refused(
    run_command: RunCommand, folder: Path, command: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither time nor output grows with crawlers times rules, or lines that hold for all."""
    monkeypatch.setattr(options, "MAX_LINES", 1600)
    agents = [f"User-agent: {name}\n" for name in ("a", "b", "c", "d", "e", "f")]
    lines = [f"{line}{number}\n" for number in range(300)]
    parts = [*agents, *lines] if line == "Disallow: /" else [*lines, *agents]
    (folder / "many.txt").write_text("".join(parts))
    result = run_command(*command.split())
    assert result.code == 2
    assert "crawlers that are named have more than 1,600 lines together" in result.err
    assert result.out == ""
    assert run_command("check", "many.txt", "/", "--token", "f").code == 0


def test_the_empty_token_is_no_crawler(run_command: RunCommand, folder: Path) -> None:
    """UAG-03, UAG-11: the edition google reads it, but no User-Agent and no --token leads to it."""
    (folder / "digits.txt").write_text("User-agent: 123\nDisallow: /\n")
    result = run_command("check", "digits.txt", "/", "--each-token", "--edition", "google")
    assert [" ".join(line.split()) for line in result.lines] == [
        "allowed a crawler that no group names / (no group applies)"
    ]
