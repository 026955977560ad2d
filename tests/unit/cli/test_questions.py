"""Questions that people have, each answered by one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrapy_robotspec.cli.app import COMMANDS
from tests.support.command_line import RunCommand
from tests.support.evidence import make_evidence

#: A command line that answers a question, the exit code, and what the answer must hold. The pages
#: of the documentation hold more of them.
QUESTIONS = [
    ("explain robots.txt /x --token GPTBot", 1, "disallowed (line 6: Disallow: /)"),
    ("check robots.txt / --each-token --disallowed", 1, "4 answers: 2 allowed, 2 disallowed"),
    ("check robots.txt --urls urls.txt --disallowed", 1, "5 answers: 1 allowed, 4 disallowed"),
    ("explain robots.txt /cart/help --token examplebot", 0, "loses      line 10: Disallow: /cart/"),
    ("explain robots.txt /x --token newbot --token GPTBot", 1, "newbot, then GPTBot"),
    ("show robots.txt --token examplebot", 0, "line 9: crawl-delay: 5"),
    ("show robots.txt --token newbot", 0, "* (from line 14): no group names the crawler"),
    ("show robots.txt", 0, "sitemap    https://shop.example/sitemap.xml"),
    ("explain robots.txt /x", 0, "usage      search allowed, train-ai disallowed"),
    ("lint robots.txt", 1, "robots.txt:17: RS301 error: "),
    ("lint new.txt", 0, ""),
    ("lint open.txt --advice", 0, "open.txt:2: RS902 advice: "),
    ("lint open.txt --strict", 1, "open.txt:2: RS902 advice: "),
    ("lint robots.txt --select RS3", 1, "robots.txt:17: RS301"),
    ("lint robots.txt --ignore RS301,RS1,RS215", 0, ""),
    ("lint robots.txt --statistics", 1, "1  RS301  error"),
    ("lint robots.txt --select no-leading-slash,RS9", 1, "robots.txt:17: RS301"),
    ("lint robots.txt --ignore no-leading-slash,RS1,opened-by-own-group", 0, ""),
    ("check signal.txt / --usage train-ai", 1, "(train-ai is disallowed by line 2: 'Content-S"),
    ("check signal.txt / --usage search", 0, "(no rule of the group matches)"),
    ("lint --explain rs301", 0, "RS301 no-leading-slash (error)"),
    ("lint --explain dead-rule", 0, "edition google"),
    ("check robots.txt /typo --edition google", 1, "/typo  (line 18: Disalow: /typo)"),
    ("diff robots.txt new.txt --urls urls.txt", 1, "3 rules added, 4 removed for 4 crawlers, 8 v"),
    ("diff robots.txt new.txt --token examplebot", 1, "- line 11: Allow: /cart/help$"),
    ("diff robots.txt robots.txt", 0, "no difference"),
    ("editions robots.txt", 1, "disallowed  google-2010  (line 17: Disallow: fish)"),
    ("editions robots.txt /cart/1", 0, "the editions disagree about 0 of 1 question"),
]


#: Lines that count what was shown. They go to standard error, so that a list is a list.
COUNTS = (
    "4 answers: 2 allowed, 2 disallowed",
    "5 answers: 1 allowed, 4 disallowed",
    "3 rules added, 4 removed for 4 crawlers, 8 v",
    "no difference",
    "the editions disagree about 0 of 1 question",
)


@pytest.mark.parametrize(("command", "code", "holds"), QUESTIONS)
def test_one_command_answers(run_command: RunCommand, command: str, code: int, holds: str) -> None:
    """The answer stands in the output, and the exit code says it to a script (EXT-02).

    With --json each line is an object, nothing else is on stdout, and the code is the same.
    """
    result = run_command(*command.split())
    assert result.code == code
    assert holds in (result.err if holds in COUNTS else result.out)
    result = run_command(*command.split(), "--json")
    assert result.code == code
    assert all(isinstance(json.loads(line), dict) for line in result.lines)
    assert result.out.isascii()


#: Keys of an explanation about a site; null for a file.
NOT_OF_A_FILE = (
    *("origin", "outcome", "status", "age", "problem", "seconds", "robots_url", "redirect_error"),
    *("truncated", "content_type", "failure", "failures", "unreachable_since", "hops", "meaning"),
    *("lifetime", "bytes", "fetched_now"),
)


def rule(line: int, kind: str, pattern: str) -> dict[str, object]:
    """A rule that is read as it is written."""
    text = f"{kind.capitalize()}: {pattern}"
    return {"line": line, "rule": text, "kind": kind, "pattern": pattern, "read_as": pattern}


def test_json_of_an_explanation_holds_the_whole_way(run_command: RunCommand) -> None:
    """The keys are a promise: verdict, group, and each rule that matches."""
    result = run_command("explain", "robots.txt", "/cart/help", "--token", "examplebot", "--json")
    deciding = rule(11, "allow", "/cart/help$")
    assert json.loads(result.out) == {
        **dict.fromkeys(NOT_OF_A_FILE),
        **deciding,
        "file": "robots.txt",
        "url": "/cart/help",
        "tokens": ["examplebot"],
        "allowed": True,
        "reason": "rule",
        "group": ["examplebot"],
        "edition": "google-2019",
        "resolved": None,
        "path": "/cart/help",
        "matches": [deciding, rule(10, "disallow", "/cart/")],
        "group_lines": [8],
        "crawl_delay": 5.0,
        "other": [{"field": "crawl-delay", "value": "5", "line": 9}],
        "usage": {"applies": True, "preferences": {}, "statements": [], "licenses": []},
    }


def test_json_of_usage_holds_every_statement(run_command: RunCommand) -> None:
    """USE-01, USE-07: with line, path and what it says by itself."""
    result = run_command("explain", "robots.txt", "/x", "--json")
    usage = json.loads(result.out)["usage"]
    stated = {"search": "allow", "train-ai": "disallow"}
    statement = {"line": 19, "source": "content-signal", "path": None}
    statement |= {"value": "search=yes, ai-train=no", "preferences": stated, "decides": True}
    assert (usage["preferences"], usage["statements"]) == (stated, [statement])


def test_a_use_that_no_draft_defines_is_noted(run_command: RunCommand) -> None:
    """USE-05: it would refuse nothing, without a word."""
    result = run_command("check", "signal.txt", "/", "--usage", "training")
    assert result.code == 0
    assert "note: --usage is 'training', which no draft defines: 'train-ai' is pro" in result.err
    assert run_command("check", "signal.txt", "/", "--usage", "search").err == ""


def test_a_file_that_follows_all_advice_passes_strict(
    run_command: RunCommand, folder: Path
) -> None:
    """A file that follows all advice passes --strict, and the count is no finding."""
    (folder / "clean.txt").write_text("User-agent: *\nDisallow: /a/\n")
    result = run_command("lint", "clean.txt", "--strict")
    assert (result.code, result.out, result.err) == (0, "", "no findings\n")
    result = run_command("lint", "clean.txt", "robots.txt")
    assert result.err == "1 error and 2 warnings in 2 files\n"
    (folder / "clean.txt").write_text("User-agent: *\nDisallow: /a/\nPolicy: x\nDisallow:/b/\n")
    hidden = "no findings; 2 pieces of advice hidden, see --advice\n"
    assert run_command("lint", "clean.txt").err == hidden
    assert run_command("lint", "clean.txt", "--ignore", "RS1").err == "no findings\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_shows_examples_that_run(
    run_command: RunCommand, folder: Path, command: str
) -> None:
    """The examples of --help work with files of these names (exit 0 or 1)."""
    (folder / "old.txt").write_text("User-agent: *\nDisallow: /a\n")
    (folder / "folder").mkdir()
    (folder / "folder/robots.txt").write_text("User-agent: *\nDisallow: /a/\n")
    make_evidence(folder / "evidence")
    for name in ("index.cdxj", "requests.jsonl", "access.log"):
        (folder / name).touch()
    text = run_command(command, "--help").out
    examples = [
        line.split()[1:]
        for line in text.partition("Examples:")[2].splitlines()
        if line.startswith("    robotspec ") and "*" not in line
        if "://" not in line.partition("/page ")[0]
    ]
    assert examples
    for words in examples:
        assert run_command(*words).code in (0, 1), words


def test_only_the_disallowed_are_shown(run_command: RunCommand) -> None:
    result = run_command("check", "robots.txt", "/x", "/cart/", "--disallowed")
    assert [line.split()[0] for line in result.lines] == ["disallowed"]


def test_no_command_shows_the_help(run_command: RunCommand) -> None:
    result = run_command()
    assert (result.code, result.out) == (2, "")
    assert "Commands:" in result.err


def test_what_decides_is_not_said_twice(run_command: RunCommand) -> None:
    """Where no rule matches, the verdict's line says so."""
    result = run_command("explain", "robots.txt", "/unnamed")
    assert "decided by" not in result.out
    assert "decided by the only rule" in run_command("explain", "robots.txt", "/cart/1").out
