"""``diff`` says all that matters and nothing else; ``editions`` makes paths and questions."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.cli import differences
from scrapy_robotspec.cli.differences import Change, find_changes, sample_paths
from scrapy_robotspec.cli.options import named_crawlers
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile
from tests.support.command_line import RunCommand


def changes(old: bytes, new: bytes, edition: str = "google-2019", *urls: str) -> list[Change]:
    files = [ParsedFile(RobotsTxt.parse(body, edition)) for body in (old, new)]
    return list(find_changes(files[0], files[1], named_crawlers(files), urls))


SHOP = b"User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\nAllow: /y/z\n"

SAME = {
    "comments and blanks": b"# shop\n\n" + SHOP.replace(b"Disallow: /x", b"Disallow: /x # why"),
    "order of groups": b"User-agent: *\nAllow: /y/z\nDisallow: /y\nUser-agent: a\nUser-agent: b\n"
    b"Disallow: /x\n",
    "spelling of fields and escapes": SHOP.replace(b"Disallow: /x", b"DISALLOW:/%78"),
    "a star at the end": SHOP.replace(b"Disallow: /x", b"Disallow: /x*"),
    "a rule twice": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nDisallow: /y\n"),
    "a group in two parts": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nUser-agent: *\n"),
    "a rule without a path": SHOP.replace(b"Disallow: /y\n", b"Disallow: /y\nDisallow:\n"),
    "a crawler by its own name": SHOP + b"\nUser-agent: c\nDisallow: /y\nAllow: /y/z\n",
    "line ends": SHOP.replace(b"\n", b"\r\n"),
    "a rule below another": SHOP.replace(b"Disallow: /x", b"Disallow: /x\nDisallow: /x/y"),
    "a needless allow rule": SHOP.replace(b"Disallow: /x", b"Disallow: /x\nAllow: /z"),
}


@pytest.mark.parametrize("new", SAME.values(), ids=SAME)
def test_nothing_is_reported_that_no_crawler_notices(new: bytes) -> None:
    """Spelling, order, comments and line numbers do not count."""
    assert changes(SHOP, new) == changes(new, SHOP) == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_rule_without_a_path_is_no_change(edition: str) -> None:
    """Nor where explanations name it."""
    new = SAME["a rule without a path"]
    assert changes(SHOP, new, edition) == changes(new, SHOP, edition) == []


def test_a_change_names_the_crawlers_that_it_concerns_and_the_rules() -> None:
    """Crawlers of one group share a change; the others have none."""
    (change,) = changes(SHOP, SHOP.replace(b"Disallow: /x", b"Disallow: /x/\nDisallow: /q"))
    assert change.crawlers == [("a",), ("b",)]
    assert [rule.text for rule in change.old.rules] == ["Disallow: /x"]
    assert [(rule.line, rule.text) for rule in change.new.rules] == [
        (3, "Disallow: /x/"),
        (4, "Disallow: /q"),
    ]


def test_a_content_signal_above_all_groups_concerns_every_crawler() -> None:
    """USE-07."""
    found = changes(SHOP, b"Content-Signal: ai-train=no\n" + SHOP)
    assert [each.crawlers for each in found] == [[("a",), ("b",)], [()]]
    assert {(*each.old.others, *each.new.others) for each in found} == {
        (("content-signal", "ai-train=no"),)
    }


AGENT = st.sampled_from(["a", "b", "*"]).map("User-agent: {}".format)
PATTERN = st.one_of(
    st.text("/*$%x", max_size=4),
    st.sampled_from(["/%78", "/x/y", "/index.html", "/%2A", "/%24", "/*y$", "*/x"]),
)
RULE = st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), PATTERN)
FILE = st.lists(st.one_of(AGENT, RULE, RULE, st.sampled_from(["", "Noise"])), max_size=10).map(
    lambda lines: "\n".join(["User-agent: *", *lines]).encode()
)
PATH = st.text("/*$%x", max_size=4).map("/{}".format)


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=150)
@given(old=FILE, new=FILE, more=st.lists(PATH, max_size=4))
def test_no_verdict_differs_where_no_change_is_reported(
    edition: str, old: bytes, new: bytes, more: list[str]
) -> None:
    """A crawler without a reported change gets the same verdict for every path."""
    files = [ParsedFile(RobotsTxt.parse(body, edition)) for body in (old, new)]
    changed = {tokens for change in changes(old, new, edition) for tokens in change.crawlers}
    paths = [*sample_paths(group for file in files for group in file.groups), *more]
    for tokens in named_crawlers(files):
        if tokens not in changed:
            for path in paths:
                verdicts = {file.robots.allowed(path, tokens) for file in files}
                assert len(verdicts) == 1, (tokens, path)


TEXT = st.builds(
    "{}: /{}{}".format,
    st.sampled_from(["Allow", "Disallow"]),
    st.text("/xy", max_size=2),
    st.sampled_from(["", "", "$"]),
)
TEXTS = st.lists(TEXT, max_size=5).map("\n".join)
#: Each text that such rules can tell from another, or longer.
ALL = ["/" + "".join(letters) for size in range(5) for letters in product("/xyz$", repeat=size)]


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=100)
@given(old=TEXTS, new=TEXTS)
@example("Disallow: /x", "Disallow: /x\nDisallow: /x/y")
@example("Disallow: /x", "Disallow: /x\nDisallow: /x$")
@example("Disallow: /x$", "Disallow: /x")
@example("", "Allow: /")
def test_rules_are_a_change_if_and_only_if_a_verdict_differs(
    edition: str, old: str, new: str
) -> None:
    """Of rules without wildcards and escapes: some change nothing beside others."""
    before, after = (f"User-agent: *\n{rules}\n".encode() for rules in (old, new))
    files = [RobotsTxt.parse(body, edition) for body in (before, after)]
    urls = [f"https://h{path}" for path in ALL]
    verdicts = [[file.allowed(url, ()) for url in urls] for file in files]
    assert bool(changes(before, after, edition)) is (verdicts[0] != verdicts[1])


#: Lines whose every difference changes an answer: no one of them hides or repeats another.
STATED = st.sampled_from(
    [
        *("User-agent: a", "User-agent: b", "User-agent: *", "User-agent: __usage_AI-training"),
        *("Disallow: /x/", "Disallow: /y/", "Disallow:", "", "Crawl-delay: 5", "crawl-delay: 5.0"),
        *("Crawl-delay: 9", "Crawl-delay: x", "License: https://h.example/1", "License: /l"),
        *("License: https://h.example/2", "Sitemap: https://h.example/s", "sitemap:https://h/t"),
        *("Content-Usage: search=n", "Content-usage: search=n;a", "Content-Usage: search=y"),
        *("Content-Usage: x", "Content-Signal: ai-input=no", "Content-Signal: AI-Input = No"),
        *("Content-Signal: ai-input=no, ai-input=yes", "Content-Signal: ai-input=yes"),
    ]
)
STATES = st.lists(STATED, max_size=9).map("\n".join).map(str.encode)
#: A URL that nothing is stated about alone, and those that a rule is about.
ASKED = ("/z", "/x/", "/y/")


def answers(robots: RobotsTxt, tokens: tuple[str, ...]) -> object:
    """Everything that a crawler is told."""
    told = [(robots.allowed(url, tokens), robots.usage(url, tokens).preferences) for url in ASKED]
    return told, robots.crawl_delay(tokens)


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=STATES, new=STATES, token=st.sampled_from(["", "--token=a", "--token=c"]))
@example(b"License: https://h.example/1\n", b"License: https://h.example/2\n", "")
@example(b"", b"User-agent: __usage_ai-training\nDisallow: /x/\n", "--token=c")
@example(b"", b"User-agent: __usage_ai-training\nDisallow:\n", "")
@example(b"User-agent: *\nCrawl-delay: 5\n", b"User-agent: *\nCrawl-delay: 5.0\n", "")
@example(b"Content-Signal: ai-input=no\n", b"User-agent: *\nContent-Signal: ai-input=no\n", "")
@example(b"User-agent: a\nContent-Usage: search=n\nUser-agent: b\n", b"User-agent: b\n", "")
@example(
    b"User-agent: a\nUser-agent: __usage_AI-training\nDisallow: /x/",
    b"User-agent: a\nDisallow: /x/",
    "--token=a",
)
def test_two_files_differ_if_and_only_if_they_do_for_somebody(
    run_command: RunCommand, edition: str, old: bytes, new: bytes, token: str
) -> None:
    """USE-06, USE-10: what holds for every crawler counts for any crawler that is asked about."""
    Path("old.txt").write_bytes(old)
    Path("new.txt").write_bytes(new)
    files = [RobotsTxt.parse(body, edition) for body in (old, new)]
    crawlers = [("a",), ("b",), ()] if not token else [(token[-1],)]
    pairs = [[answers(robots, tokens) for robots in files] for tokens in crawlers]
    pairs += [[robots.licenses for robots in files], [robots.sitemaps for robots in files]]
    pairs.append([policy_paths(robots) for robots in files])
    is_different = any(set_of(one) != set_of(other) for one, other in pairs)
    words = ["diff", "old.txt", "new.txt", "--edition", edition, *filter(None, [token])]
    assert run_command(*words).code == is_different
    assert run_command(*words, "--json").code == is_different


def policy_paths(robots: RobotsTxt) -> object:
    """The paths of policy tokens, also those that the crawler asked about may not fetch."""
    stated = robots.for_all.statements
    return tuple(str(each.path) for each in stated if each.source == "policy-token")


def set_of(told: object) -> object:
    """URLs in any order and number."""
    return {*told} if isinstance(told, tuple) and told and isinstance(told[0], str) else told or ()


def test_what_holds_for_every_crawler_is_shown_once(run_command: RunCommand, folder: Path) -> None:
    """USE-06, USE-10: with its sign and line, and without a crawler of that name."""
    (folder / "old.txt").write_text("License: https://h.example/1\nUser-agent: *\nDisallow: /x\n")
    policy = "\nUser-agent: __usage_AI-training\nDisallow: /blog/\n"
    (folder / "new.txt").write_text(f"User-agent: *\nDisallow: /x\n{policy}")
    result = run_command("diff", "old.txt", "new.txt")
    assert result.lines == [
        "every crawler",
        "  - license: https://h.example/1",
        "  + policy rule: Disallow: /blog/ (User-agent: __usage_ai-training)",
    ]
    assert result.err == "only lines for every crawler differ\n"
    shown = run_command("show", "new.txt").out
    assert "  for all    line 5: Disallow: /blog/ (User-agent: __usage_ai-training)" in shown
    assert "__usage_AI-training (policy token)" in shown
    assert "  license    https://h.example/1" in run_command("show", "old.txt").lines
    (row,) = map(json.loads, run_command("show", "new.txt", "--json").lines)
    assert [each["source"] for each in row["statements"]] == ["policy-token"]
    assert json.loads(run_command("show", "old.txt", "--json").out)["licenses"] == [
        "https://h.example/1"
    ]


@pytest.mark.parametrize(
    "command",
    ["check new.txt /", "explain new.txt /", "editions new.txt / --all", "diff new.txt x"],
)
def test_no_crawler_has_a_policy_token(run_command: RunCommand, folder: Path, command: str) -> None:
    """USE-10: it is in no list of crawlers, and asked about as one it is refused."""
    body = "User-agent: a\nUser-agent: __usage_ai-training\nDisallow: /\n"
    (folder / "new.txt").write_text(body)
    (folder / "x").write_text("")
    every = run_command(*command.split(), *(["--each-token"] if "diff" not in command else []))
    verdicts = [line for line in every.lines if "Disallow: /" in line or "allowed" in line]
    assert not any(line.startswith("__usage") for line in verdicts)
    refused = run_command(*command.split(), "--token", "__usage_AI-training")
    assert refused.code == 2
    assert "names a use of pages, train-ai" in refused.err


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


def test_each_row_names_a_crawler_that_sees_the_difference(
    run_command: RunCommand, folder: Path
) -> None:
    """Its names, given as --token, lead to the same row; each edition reads them its own way."""
    names = ["123", "a,b", "(x)", "Example Bot 2", "MJ12bot", "é", "a; b", "b-c", "*"]
    groups = [f"User-agent: {name}\nDisallow: /{at}\n" for at, name in enumerate(names)]
    (folder / "many.txt").write_text("\n".join(groups))
    rows = run_command(*COMMAND).lines
    seen: set[str] = set()
    for row in map(json.loads, rows):
        tokens = [f"--token={token}" for token in row["tokens"]]
        again = run_command("editions", "many.txt", row["url"], *tokens, "--all", "--json")
        assert json.loads(again.out) == row
        seen.update([] if row["agree"] else row["tokens"])
    assert seen >= {"123", "(x)", "é"}  # a name that only classic reads
    assert "/0  (123)\n" in run_command("editions", "many.txt", "--each-token").out


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


def test_a_file_of_many_wildcards_is_asked_fewer_questions(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wildcard is searched for each question: thousands of them would take minutes."""
    monkeypatch.setattr(differences, "_MOST_QUESTIONS", 100)
    monkeypatch.setattr(differences, "_STARS", 10)
    rules = [f"Disallow: /*{number}\n" for number in range(49)]
    (folder / "many.txt").write_text("".join(["User-agent: *\n", *rules]))
    rows = run_command("editions", "many.txt", "--all", "--json").out.splitlines()
    assert len(rows) == 100 // 6


WRITTEN = st.builds(
    lambda head, rest: head + "".join(rest),
    st.sampled_from(["/", "/*", "*", "/a"]),
    st.lists(st.sampled_from(["*", "$", "/", "a", "%41", "?q=", ".php", "é"]), max_size=5),
)


@settings(max_examples=100)
@given(st.lists(WRITTEN, min_size=1, max_size=5))
def test_each_rule_matches_one_of_the_paths(patterns: list[str]) -> None:
    """Whatever a rule says, one of the paths finds out; without it a diff could miss a change."""
    lines = ["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns)]
    robots = RobotsTxt.parse("\n".join(lines).encode())
    paths = differences.sample_paths(robots.groups)
    found = {rule.line for path in paths for rule in robots.matches(path, ())}
    assert found == set(range(2, 2 + len(patterns)))
