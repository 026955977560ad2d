"""Answers of every command that decides: both readings, exit codes, crawlers of large files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.protocol import groups
from scrapy_robotspec.render import parsed_file
from tests.support.command_line import RunCommand

DOTS = "/x/../cart/1"


def test_a_url_with_dot_segments_is_judged_in_both_readings(run_command: RunCommand) -> None:
    """PAT-15: what the server reads is named beside the rule; path and matches belong to it."""
    for command in ("check", "explain"):
        result = run_command(command, "robots.txt", DOTS)
        assert result.code == 1
        assert "(line 15: Disallow: /cart/; servers read /cart/1)" in result.out
    shown = json.loads(run_command("explain", "robots.txt", DOTS, "--json").out)
    assert (shown["allowed"], shown["line"], shown["resolved"]) == (False, 15, "/cart/1")
    assert (shown["path"], [rule["line"] for rule in shown["matches"]]) == ("/cart/1", [15])
    (row,) = run_command("editions", "robots.txt", DOTS, "--all", "--json").lines
    assert {each["resolved"] for each in json.loads(row)["editions"].values()} == {"/cart/1"}


@pytest.mark.parametrize(
    "command", ["check robots.txt", "explain robots.txt", "editions robots.txt",
                "diff robots.txt robots.txt"]
)  # fmt: skip
def test_a_wrong_line_of_a_list_exits_with_2(
    run_command: RunCommand, folder: Path, command: str
) -> None:
    """Unless something is disallowed or different: that counts more."""
    (folder / "list.txt").write_text("/x\nnonsense\n")
    result = run_command(*command.split(), "--urls", "list.txt")
    assert result.code == 2
    assert "list.txt:2: neither a URL nor a path, skipped: nonsense" in result.err


def test_a_file_is_searched_once_for_its_sitemaps(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: not again for each of its crawlers."""
    real = groups.read_sitemaps
    searches: list[Any] = []

    def count(*arguments: Any) -> Any:
        searches.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(parsed_file, "read_sitemaps", count)
    names = "".join(f"User-agent: bot-{'a' * n}\nDisallow: /\n" for n in range(1, 100))
    (folder / "f.txt").write_text(f"Sitemap: https://a.example/s\n{names}")
    assert run_command("show", "f.txt", "--each-token").out.count("https://a.example/s") == 100
    assert len(searches) == 1
