"""Questions that people have, each answered by one command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.cli.app import COMMANDS
from tests.support.evidence import make_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import RunCommand

#: The question, the command line, the exit code, and what the answer must hold.
QUESTIONS = [
    (
        "May examplebot fetch this page?",
        "check robots.txt /cart/help --token examplebot",
        0,
        ["allowed     /cart/help  (line 11: Allow: /cart/help$)"],
    ),
    (
        "Which line blocks /x for GPTBot?",
        "explain robots.txt /x --token GPTBot",
        1,
        ["disallowed (line 6: Disallow: /)", "GPTBot (from line 4)"],
    ),
    (
        "May anybody else fetch it?",
        "check robots.txt /x",
        0,
        ["allowed     /x  (no rule of the group matches)"],
    ),
    (
        "Which crawlers are kept out altogether?",
        "check robots.txt / --each-token --disallowed",
        1,
        ["GPTBot", "CCBot", "4 answers: 2 allowed, 2 disallowed"],
    ),
    (
        "Which of these URLs are disallowed?",
        "check robots.txt --urls urls.txt --disallowed",
        1,
        ["disallowed  /cart/1", "5 answers: 1 allowed, 4 disallowed"],
    ),
    (
        "Which rules match besides the one that decides?",
        "explain robots.txt /cart/help --token examplebot",
        0,
        ["decides    line 11", "loses      line 10: Disallow: /cart/", "the longest of 2 rules"],
    ),
    (
        "Which group does my crawler follow?",
        "show robots.txt --token examplebot",
        0,
        ["examplebot (from line 8): the most specific name that matches"],
    ),
    (
        "Which group applies to an unknown crawler?",
        "show robots.txt --token newbot",
        0,
        ["* (from line 14): no group names the crawler"],
    ),
    (
        "What does a fallback token do?",
        "explain robots.txt /x --token newbot --token GPTBot",
        1,
        ["newbot, then GPTBot", "GPTBot (from line 4)"],
    ),
    (
        "What crawl delay is asked of examplebot?",
        "show robots.txt --token examplebot",
        0,
        ["line 9: crawl-delay: 5"],
    ),
    (
        "What does the file say about AI training?",
        "show robots.txt --token newbot",
        0,
        ["line 19: content-signal: search=yes, ai-train=no"],
    ),
    (
        "May we train on this page?",
        "explain robots.txt /x",
        0,
        [
            "usage      search allowed, train-ai disallowed",
            "states     line 19: Content-Signal: search=yes, ai-train=no",
        ],
    ),
    (
        "Which sitemaps does it name?",
        "show robots.txt --token newbot",
        0,
        ["sitemap    https://shop.example/sitemap.xml"],
    ),
    (
        "What is wrong with the file?",
        "lint robots.txt",
        1,
        ["robots.txt:17: RS301 error: ", "robots.txt:18: RS102 error: "],
    ),
    ("Has a file mistakes, advice aside?", "lint new.txt", 0, []),
    ("And what is the advice?", "lint open.txt --advice", 0, ["open.txt:2: RS902 advice: "]),
    ("May advice fail a build?", "lint open.txt --strict", 1, ["open.txt:2: RS902 advice: "]),
    ("Only one kind of finding?", "lint robots.txt --select RS3", 1, ["robots.txt:17: RS301"]),
    ("All but one kind?", "lint robots.txt --ignore RS301,RS1", 0, []),
    ("How many of each code?", "lint robots.txt --statistics", 1, ["1  RS301  error"]),
    ("What does a code mean?", "lint --explain rs301", 0, ["RS301 no-leading-slash (error)"]),
    (
        "And what is the remedy?",
        "lint --explain dead-rule",
        0,
        ["Write the escape", "edition google"],
    ),
    ("What does the file contain?", "show robots.txt", 0, ["GPTBot, CCBot", "sitemap    https://"]),
    (
        "And for my crawler?",
        "show robots.txt --token GPTBot",
        0,
        ["rule       line 6: Disallow: /"],
    ),
    (
        "What does Google make of the misspelled line?",
        "check robots.txt /typo --edition google",
        1,
        ["disallowed  /typo  (line 18: Disalow: /typo)"],
    ),
    (
        "What changed for these URLs?",
        "diff robots.txt new.txt --urls urls.txt",
        1,
        ["3 rules added, 4 removed for 4 crawlers, 8 verdicts changed"],
    ),
    (
        "What changed for my crawler?",
        "diff robots.txt new.txt --token examplebot --urls urls.txt",
        1,
        ["- line 11: Allow: /cart/help$", "old  allowed     (line 11", "new  disallowed  (line 2"],
    ),
    (
        "Did anything change at all?",
        "diff robots.txt robots.txt",
        0,
        ["no difference"],
    ),
    (
        "Do the specifications agree about the file?",
        "editions robots.txt",
        1,
        ["disallowed  google-2010  (line 17: Disallow: fish)"],
    ),
    (
        "Do they agree about this URL?",
        "editions robots.txt /cart/1",
        0,
        ["the editions disagree about 0 of 1 question"],
    ),
]


@pytest.mark.parametrize(
    ("command", "code", "holds"),
    [pytest.param(*rest, id=question) for question, *rest in QUESTIONS],
)
def test_one_command_answers(
    run_command: RunCommand, command: str, code: int, holds: list[str]
) -> None:
    """The answer stands in the output, and the exit code says it to a script (EXT-02)."""
    result = run_command(*command.split())
    assert result.code == code
    for words in holds:
        assert words in result.out


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(command, code, id=question)
        for question, command, code, _ in QUESTIONS
        if command != "editions" and "--explain" not in command
    ],
)
def test_json_says_the_same(run_command: RunCommand, command: str, code: int) -> None:
    """With --json each line is an object, nothing else is on stdout, and the code is the same."""
    result = run_command(*command.split(), "--json")
    assert result.code == code
    assert all(isinstance(json.loads(line), dict) for line in result.lines)
    assert result.out.isascii()


def test_json_of_an_explanation_holds_the_whole_way(run_command: RunCommand) -> None:
    """The keys are a promise: verdict, group, and each rule that matches."""
    result = run_command("explain", "robots.txt", "/cart/help", "--token", "examplebot", "--json")
    assert json.loads(result.out) == {
        "url": "/cart/help",
        "tokens": ["examplebot"],
        "allowed": True,
        "reason": "rule",
        "line": 11,
        "rule": "Allow: /cart/help$",
        "pattern": "/cart/help$",
        "group": ["examplebot"],
        "edition": "google-2019",
        "resolved": None,
        "path": "/cart/help",
        "matches": [
            {"line": 11, "rule": "Allow: /cart/help$", "kind": "allow", "pattern": "/cart/help$"},
            {"line": 10, "rule": "Disallow: /cart/", "kind": "disallow", "pattern": "/cart/"},
        ],
        "group_lines": [8],
        "crawl_delay": 5.0,
        "other": [{"field": "crawl-delay", "value": "5", "line": 9}],
        "usage": {"applies": True, "preferences": {}, "statements": [], "licenses": []},
    }


def test_json_of_usage_holds_every_statement(run_command: RunCommand) -> None:
    """USE-01, USE-07: with line, path and what it says by itself."""
    result = run_command("explain", "robots.txt", "/x", "--json")
    assert json.loads(result.out)["usage"] == {
        "applies": True,
        "preferences": {"search": "allow", "train-ai": "disallow"},
        "statements": [
            {
                "line": 19,
                "source": "content-signal",
                "path": None,
                "value": "search=yes, ai-train=no",
                "preferences": {"search": "allow", "train-ai": "disallow"},
                "decides": True,
            }
        ],
        "licenses": [],
    }


def test_a_file_that_follows_all_advice_passes_strict(
    run_command: RunCommand, folder: Path
) -> None:
    """A file that follows all advice passes --strict, and the count is no finding."""
    (folder / "clean.txt").write_text("User-agent: *\nDisallow: /a/\n")
    result = run_command("lint", "clean.txt", "--strict")
    assert (result.code, result.out, result.err) == (0, "", "no findings\n")
    result = run_command("lint", "clean.txt", "robots.txt")
    assert result.err == "2 errors in 2 files\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_shows_examples_that_run(
    run_command: RunCommand, folder: Path, command: str
) -> None:
    """The examples of --help work with files of these names (exit 0 or 1)."""
    (folder / "old.txt").write_text("User-agent: *\nDisallow: /a\n")
    (folder / "folder").mkdir()
    (folder / "folder/robots.txt").write_text("User-agent: *\nDisallow: /a/\n")
    make_evidence(folder / "evidence")
    for name in ("index.cdxj", "requests.jsonl"):
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


def test_top_help_names_a_command_for_each_question(run_command: RunCommand) -> None:
    """Who knows nothing but the package's name finds the command; its examples run, too."""
    result = run_command("--help")
    assert result.code == 0
    for command in ("check", "explain", "lint", "diff", "editions", "explain https://"):
        assert command in result.out
    assert run_command().code == 2  # no command at all
    assert "Commands:" in run_command().err


@pytest.mark.parametrize(
    ("path", "decided"),
    [("/unnamed", []), ("/cart/1", ["decided by the only rule that matches"])],
)
def test_what_decides_is_not_said_twice(
    run_command: RunCommand, folder: Path, path: str, decided: list[str]
) -> None:
    """Where no rule matches, the verdict's line says so."""
    result = run_command("explain", "robots.txt", path)
    assert [line.strip() for line in result.lines if "decided by" in line] == decided
    assert result.out.count("no rule of the group matches") == (not decided)
