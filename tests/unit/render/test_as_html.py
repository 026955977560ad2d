"""The HTML pages: complete, without scripts and network, linked, with text from outside escaped."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render import as_html, explanation
from scrapy_robotspec.render.as_html import LONGEST, TEMPLATES, answers_page, render, shown
from scrapy_robotspec.render.parsed_file import ParsedFile
from tests.support.command_line import HOSTILE, HOSTILE_URL, SHOP, RunCommand
from tests.support.html_page import check
from tests.unit.render.asking import explain_in_full

NOW = 1_800_000_000.0

COMMANDS = {
    "check": ["check", "robots.txt", "--urls", "urls.txt", "--each-token"],
    "show": ["show", "robots.txt"],
    "hostile explain": ["explain", "hostile.txt", HOSTILE_URL, "--each-token"],
    "empty file": ["explain", "empty.txt", "/"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_page_is_whole_and_self_contained(
    run_command: RunCommand, folder: Path, command: list[str]
) -> None:
    """Known tags and attributes only, all closed, ids unique, each link leads within the page."""
    (folder / "empty.txt").touch()
    result = run_command(*command, "--html", "page.html")
    assert result.code in (0, 1), result.err
    check((folder / "page.html").read_text(encoding="utf-8"))


def explain(body: bytes, *urls: str, tokens: tuple[str, ...] = ()) -> str:
    robots = RobotsTxt.parse(body)
    answers = [explain_in_full(robots, url, *tokens) for url in urls]
    return answers_page("robots.txt", ParsedFile(robots), answers, now=NOW, asked=[tokens])


def test_the_page_begins_with_the_answer_and_marks_its_lines() -> None:
    """Links lead to the deciding line; the group followed, the decision and losers are marked."""
    page = check(explain(SHOP.encode(), "/cart/help", tokens=("examplebot",)))
    assert {"#line-11", "#line-10"} <= set(page.links)
    assert page.classes["line-11"] == "followed decides-good"
    assert page.classes["line-10"] == "followed"
    assert (page.classes["line-14"], page.classes["line-1"]) == ("", "comment")
    assert re.search(r"8User-agent: examplebot\s*applies to examplebot", page.text)
    assert "loses" in page.text
    words = " ".join(page.text.split())
    assert "examplebot may fetch /cart/help: line 11 Allow: /cart/help$" in words
    assert "Made 2027-01-15 08:00:00 UTC by scrapy_robotspec" in words


def test_the_usage_of_a_page_is_shown_with_its_lines() -> None:
    """USE-01: the combination, the statements that make it, those that do not, and licenses."""
    body = (
        b"License: https://shop.example/l.xml\nUser-agent: *\nContent-Usage: train-ai=n\n"
        b"Content-Usage: /open/ train-ai=y, x=<b>\nContent-Usage: /open/ search=n\n"
    )
    page = check(explain(body, "/open/a"))
    words = " ".join(page.text.split())
    assert "Usagesearch disallowed" in words
    assert "Statesline 4: Content-Usage: /open/ train-ai=y, x=<b> (states no preference)" in words
    assert "Statesline 5: Content-Usage: /open/ search=n" in words
    assert "Unusedline 3: Content-Usage: train-ai=n" in words
    assert "Licensehttps://shop.example/l.xml" in words
    assert "states the use" in words


@pytest.mark.parametrize(
    ("edition", "group"),
    [("google-2019", ["2", "3", "5"]), ("classic", ["2", "3"])],
)
def test_a_group_ends_with_its_last_line_of_use(edition: str, group: list[str]) -> None:
    """Comments and blanks behind a group are not marked; classic ends it at a blank (FMT-15)."""
    robots = RobotsTxt.parse(b"# a\nUser-agent: x\nDisallow: /\n\nNoise: 1\n\n# b\n", edition)
    page = check(answers_page("robots.txt", ParsedFile(robots), [], now=NOW, asked=[("x",)]))
    marked = [name for name, style in page.classes.items() if "followed" in style]
    assert marked == [f"line-{number}" for number in group]


@pytest.mark.parametrize("edition", ["google-2019", "google"])
def test_a_misspelled_field_stands_out(edition: str) -> None:
    """Whether the edition ignores the line or not; other unknown fields do not."""
    body = b"User-agent: *\nDisalow: /a\nNoise: 1\nDisallow: /b\n"
    robots = RobotsTxt.parse(body, edition)
    page = check(answers_page("robots.txt", ParsedFile(robots), [], now=NOW))
    assert "Disalow: /amisspelled field" in " ".join(page.text.split())
    assert page.text.count("misspelled field") == 1


def test_a_rule_is_shown_as_it_is_read() -> None:
    """Where that differs from the line: comments, escapes, other letters."""
    page = check(explain(b"User-agent: *\nDisallow: /%7Ea/\xc3\xbc # all\nAllow: /\n", "/~a/ü"))
    words = " ".join(page.text.split())
    assert "line 2: Disallow: /%7Ea/ü # all (read as /~a/%C3%BC)" in words
    assert "Allow: / (read" not in words
    file = ParsedFile(RobotsTxt.parse(b"User-agent: *\nDisallow: /<b> # all\n"))
    answers = [explanation.explain(file, url, ("x",)) for url in ("/<b>", "/c")]
    page = check(answers_page("robots.txt", file, answers, now=NOW))
    assert "Disallow: /<b> # all (read as /%3Cb%3E)" in " ".join(page.text.split())


def test_markup_in_a_file_and_in_a_url_stays_text() -> None:
    """SAF-04: what looks like tags is shown letter by letter."""
    text = explain(HOSTILE, HOSTILE_URL)
    page = check(text)
    assert "<script" not in text
    assert "<img" not in text
    assert "User-agent: <script>alert(1)</script>" in page.text
    assert r'/"><img src=x onerror=alert(2)>\u202e\x1b[31m' in page.text
    assert all(character.isprintable() for character in page.text.replace("\n", ""))


def test_a_huge_file_is_shown_around_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The beginning, lines with notes and some of the groups that apply; the rest is counted."""
    monkeypatch.setattr(as_html, "MOST_LINES", 100)
    body = b"User-agent: *\n" + b"Disallow: /x/\n" + b"# nothing\n" * 5000 + b"Disallow: /deep/\n"
    page = check(explain(body + b"# end\n" * 10, "/deep/1"))
    assert "line-5003" in page.ids
    assert "line-5013" in page.ids
    assert "line-2000" not in page.ids
    for number in ("4,902", "9"):
        assert f"… {number} lines without a note are left out here" in page.text


def test_the_numbers_of_a_long_page_are_those_of_all_answers() -> None:
    """What is left out is counted, and of each rule the same number is shown."""
    file = ParsedFile(RobotsTxt.parse(SHOP.encode()))
    urls = [f"/{'cart' if n % 5 == 0 else 'x'}/{n}" for n in range(6000)]
    answers = [explanation.explain(file, url, ("examplebot",)) for url in urls]
    page = check(answers_page("robots.txt", file, answers, now=NOW))
    words = " ".join(page.text.split())
    assert "1,200 of 6,000 answers disallowed" in words
    assert "The page shows 500 of the answers; the command prints all." in words
    assert "and 1,197 more" in words
    assert "/cart/1245" in words
    assert "/cart/1250" not in words
    assert "950 of them are left out" in words
    assert "4,550 of them are left out" in words


RULES_OF_GROUPS = b"""User-agent: *
Disallow: /a
Allow: /a/b
Disallow: /*c

User-agent: other
Disallow: /a
"""


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(["/a", "/a/b", "/c", "/d"]), st.sampled_from(["x", "other"])),
        min_size=2,
        max_size=60,
    )
)
def test_answers_stand_by_rule(asked: list[tuple[str, str]]) -> None:
    """Each verdict and rule has one row with its number; URLs beyond three are folded away."""
    file = ParsedFile(RobotsTxt.parse(RULES_OF_GROUPS))
    answers = [
        explanation.explain(file, f"{path}/{number}", (token,))
        for number, (path, token) in enumerate(asked)
    ]
    source = answers_page("robots.txt", file, answers, now=NOW)
    check(source)
    rows = re.findall(r'<tr role="row"><td.*?</tr>', source, re.DOTALL)
    wanted = Counter((one.allowed, one.rule and one.rule.line) for one in answers)
    numbers = []
    for row in rows:
        number = int(re.search(r'"Answers">(\d+)<', row)[1])  # type: ignore[index]
        shown_at_once, _, folded = row.partition("<details>")
        line = re.search(r"#line-(\d+)", row)
        numbers.append((number, "disallowed" not in row, line and int(line[1])))
        lengths = [part.count("<li>") for part in (shown_at_once, folded)]
        assert lengths == [min(number, 3), max(0, number - 3)]
    assert sorted(numbers, key=str) == sorted(
        [(number, allowed, line) for (allowed, line), number in wanted.items()], key=str
    )
    assert [allowed for _, allowed, _ in numbers] == sorted(allowed for _, allowed, _ in numbers)
    for one in answers:
        assert source.count(f'<code dir="ltr">{one.url}</code>') == 1


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from([b"User-agent: *", b"Disallow: /<a", b"Allow: /'\"&", b"Sitemap: /<"]),
        ),
        max_size=8,
    ),
    st.text(max_size=20),
)
def test_no_file_and_no_url_breaks_the_page(lines: list[bytes], path: str) -> None:
    """SAF-01, SAF-04: any bytes make a whole page."""
    check(explain(b"\n".join(lines), "/" + path))


def test_markup_is_escaped_and_a_missing_value_is_an_error() -> None:
    """SAF-04: a template that forgets a value shows no page without it."""
    page = TEMPLATES.from_string("{{ text }}")
    assert page.render(text="<b>&") == "&lt;b&gt;&amp;"
    with pytest.raises(UndefinedError):
        page.render()
    with pytest.raises(UndefinedError):
        render("report.html", now=0.0)


def test_texts_are_escaped_and_cut() -> None:
    assert shown("\x1b[2J") == "\\x1b[2J"
    assert shown("x" * 3000) == "x" * LONGEST + "… (3000 characters)"


def test_each_template_compiles() -> None:
    names = TEMPLATES.list_templates()
    assert {"base.html", "answers.html", "report.html"} <= set(names)
    for name in names:
        TEMPLATES.get_template(name)
