"""SAF-04: nothing a file, a URL or a finding says steers the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from scrapy_robotspec.cli.session import Screen
from tests.support.command_line import HOSTILE_URL, RunCommand, main

COMMANDS = [
    ["check", "hostile.txt", HOSTILE_URL, "/\x1b[31m", "--each-token"],
    ["explain", "hostile.txt", HOSTILE_URL],
    ["show", "hostile.txt", "--token", "x"],
    ["show", "hostile.txt", "--each-token", "--json"],
    ["lint", "hostile.txt"],
    ["lint", "hostile.txt", "--json"],
    ["diff", "hostile.txt", "robots.txt"],
    ["diff", "hostile.txt", "robots.txt", "--json"],
    ["editions", "hostile.txt", HOSTILE_URL, "--all"],
    ["editions", "hostile.txt", "--each-token"],
    ["check", "hostile.txt", "\x1b[2Jx"],
    ["check", "no\x1b[2J.txt", "/"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2] + words[-1:]))
def test_no_control_character_reaches_the_terminal(
    run_command: RunCommand, command: list[str]
) -> None:
    """Every line of the answer consists of characters that print as themselves (SAF-04)."""
    result = run_command(*command)
    for line in [*result.out.split("\n"), *result.err.split("\n")]:
        assert line.isprintable(), line


def test_hostile_text_is_shown_with_escapes_and_cut(run_command: RunCommand) -> None:
    """The escapes stand where the characters stood (SAF-04); a long line has its length."""
    result = run_command("explain", "hostile.txt", "/" + "A" * 6000)
    assert "(5008 characters)" in result.out
    assert max(map(len, result.lines)) < 500
    result = run_command("show", "hostile.txt", "--token", "x")
    assert r"Disallow: /\u202e\x1b[31mred\x07\x00\x7f\x9b31m\x9b31m" in result.out


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard output and standard error are this terminal."""
    made = Terminal()
    monkeypatch.setattr("sys.stdout", made)
    monkeypatch.setattr("sys.stderr", made)
    return made


def test_progress_is_shown_in_per_cent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number once; nothing where the size is unknown, or nobody looks."""
    terminal = on_terminal(monkeypatch)
    for screen in (Screen(), Screen(quiet=True)):
        for number in range(0, 1000, 5):
            screen.share(number, 1000, "read")
            screen.share(number, 0, "read")
    assert terminal.getvalue().count("\r") == 99
    assert "read: 50 %" in terminal.getvalue()


def test_a_line_of_progress_never_stands_in_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is removed before an answer is written."""
    terminal = on_terminal(monkeypatch)
    screen = Screen()
    screen.share(1, 2, "read")
    screen.say("answer")
    assert terminal.getvalue() == "\rread: 50 %\r\x1b[Kanswer\n"


def test_answers_on_a_terminal_are_coloured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["check", "robots.txt", "/cart/"]) == 1
    assert terminal.getvalue().startswith("\x1b[31mdisallowed\x1b[0m  /cart/  ")
