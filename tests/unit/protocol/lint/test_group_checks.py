"""Groups and files as a whole: what is found in them, what is not, and how much is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.lint import effects
from scrapy_robotspec.protocol.lint.linter import lint
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.wildcards import SearchedPath
from tests.unit.protocol.lint.test_effects import letters, stated

if TYPE_CHECKING:
    pass

#: Whether it allows, and its path.
RuleOf = tuple[bool, str]
paths = ["", "/", "/a", "/a/", "/a/b", "/a*", "/*b", "/a$", "*", "/c", "/index.html", "a"]
paths.append("/robots.txt")
some_rules = st.lists(st.tuples(st.booleans(), st.sampled_from(paths)), min_size=1, max_size=5)


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: *\nDisallow: /admin/\n\nUser-agent: a\nDisallow: /admin/\nDisallow: /b\n",
        "User-agent: *\nDisallow: /admin/\n\nUser-agent: a\nDisallow: /\nAllow: /b\n",
        "User-agent: *\nDisallow: /admin/\n\nUser-agent: a\nDisallow:\n",  # meant so
        "User-agent: *\nDisallow: /admin/\n\nUser-agent: a\nAllow: /\n",
        "User-agent: *\nDisallow: /\n\nUser-agent: a\nDisallow: /b\n",  # closed to all others
        "User-agent: *\nDisallow: /a\nAllow: /a\n\nUser-agent: a\nDisallow: /b\n",
        "User-agent: *\nDisallow: /a\n\nUser-agent: __usage_ai-training\nDisallow: /b\n",
    ],
)
def test_a_group_that_opens_nothing_by_mistake_has_no_finding(body: str) -> None:
    """RS215."""
    assert "RS215" not in {finding.code for finding in RobotsTxt.parse(body.encode()).lint()}


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda each: each.name)
@given(every=some_rules, others=st.lists(some_rules, min_size=1, max_size=3))
@example([(False, "/a/b"), (True, "/a")], [[(False, "/"), (True, "/a")]])
@example([(False, "/a")], [[(False, "/"), (True, "/a")]])
@example([(False, "/a")], [[(False, "/a"), (False, "/c"), (True, "/a")]])
@example([(False, "/a")], [[(False, "/c")], [(False, "/c"), (True, "/a")]])
def test_a_group_that_opens_something_is_found(
    edition: Edition, every: list[RuleOf], others: list[list[RuleOf]]
) -> None:
    """RS215: at the first path that the group of ``*`` disallows, and this one allows."""
    default, lines = _read(every, edition), ["User-agent: *", *map(_written, every)]
    expected: list[str | None] = []
    for name, own in zip("abc", others, strict=False):
        lines += [f"User-agent: {name}", *map(_written, own)]
        rules = _read(own, edition)
        if not forbids(default.root) and rules.extent == "some":
            expected += [path for path in default.exceptions() if rules.allows(path)][:1]
    found = RobotsTxt.parse("\n".join(lines).encode(), edition).lint()
    assert [stated(each)[0].path for each in found if each.code == "RS215"] == expected


def _read(rules: list[RuleOf], edition: Edition) -> Rules:
    return Rules([(allow, path.encode(), at) for at, (allow, path) in enumerate(rules)], edition)


def _written(rule: RuleOf) -> str:
    return f"{'Allow' if rule[0] else 'Disallow'}: {rule[1]}"


def test_questions_about_the_group_of_all_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: many groups that disallow what a long group of ``*`` does."""
    asked: list[str] = []
    allows = Rules.allows

    def counted(rules: Rules, path: str) -> bool | None:
        asked.append(path)
        return allows(rules, path)

    monkeypatch.setattr(Rules, "allows", counted)
    rules = "".join(f"Disallow: /a/{number}\n" for number in range(1000))
    groups = "".join(
        f"User-agent: {letters(number)}\nDisallow: /a/\nDisallow: /{number}\n"
        for number in range(1000)
    )
    RobotsTxt.parse(f"User-agent: *\n{rules}{groups}".encode()).lint()
    assert len(asked) < 115_000


#: Files whose every rule, sitemap or group is a question about all the others' wildcards.
STARRED = {
    "contraries": "Disallow: /*common*k{0}\nAllow: /*common*k{0}\n",
    "sitemaps": "Allow: /x\nDisallow: /*common*k{0}\nSitemap: https://a.example/common{0}\n",
    "overruled": "Allow: /*common*k{0}\nDisallow: /*common*failing*k{0}\n",
}


@pytest.mark.parametrize("rules", STARRED.values(), ids=STARRED)
def test_wildcards_that_are_tried_for_all_questions_are_bounded(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: they share a literal that is in all the paths, so each of them is tried."""
    tried: list[object] = []
    may_match = SearchedPath.may_match

    def counted(path: SearchedPath, pattern: str) -> bool:
        tried.append(path)
        return may_match(path, pattern)

    monkeypatch.setattr(SearchedPath, "may_match", counted)
    monkeypatch.setattr(effects, "MOST_TRIED", 20_000)
    head = "User-agent: *\nDisallow: /\nDisallow: /*******common\n"
    body = head + "".join(rules.format(number) for number in range(500))
    found = RobotsTxt.parse(body.encode()).lint()
    assert len(tried) < 20_000
    assert "RS216" not in {each.code for each in found}  # "no page" is not known
    (open_,) = (
        each for each in lint(RobotsTxt.parse(body.encode()).file, "closed") if each.line == 0
    )
    assert open_.code == "RS217"
    assert '"*" may fetch "/";' not in open_.message  # it is disallowed
    assert all(each.path is not None for finding in found for each in stated(finding))


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_apostrophe_of_a_query_is_not_looked_for_in_a_path(edition: str) -> None:
    """RS215, PAT-12: the paths that it names are disallowed to all others."""
    body = (
        "User-agent: *\nAllow: /*'\nDisallow: /*'\nDisallow: /b\n"
        "User-agent: a\nDisallow: /c\nAllow: /b/d\n"
    )
    robots = RobotsTxt.parse(body.encode(), edition)
    found = [each for finding in robots.lint() for each in stated(finding)]
    assert found
    for crawler, path, allowed in found:
        assert path is not None
        assert robots.allowed(f"https://a.example{path}", crawler) is allowed, path


@pytest.mark.parametrize("mark", [b"\xef", b"\xef\xbb"])
def test_rule_below_a_part_of_a_byte_order_mark_is_not_redundant(mark: bytes) -> None:
    """FMT-05: google skips the part; other editions read the rules below as another group's."""
    body = mark + b"User-agent: a\nDisallow: /a\nDisallow: /a\n"
    google = EDITIONS["google"]
    assert "RS303" in {each.code for each in RobotsTxt.parse(body[len(mark) :], google).lint()}
    assert "RS303" not in {each.code for each in RobotsTxt.parse(body, google).lint()}


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_group_that_most_editions_join_with_the_one_above_keeps_its_rules(edition: str) -> None:
    """RS303: one edition ends the nameless group at its blank line; others read two names."""
    one, two = "User-agent: b\nDisallow: /x\n", "User-agent: a\n\nUser-agent: b\nDisallow: /x\n"
    body = f"{one}{two}Disallow: /y\n".encode()
    assert "RS303" not in {each.code for each in RobotsTxt.parse(body, edition).lint()}


@pytest.mark.parametrize("edition", EDITIONS)
def test_wordpress_allow_rule_is_not_advised_against(edition: str) -> None:
    """Disallow cannot express the exception."""
    body = b"User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n"
    assert RobotsTxt.parse(body, edition).lint() == ()


@pytest.mark.parametrize("edition", EDITIONS)
def test_files_are_not_taken_for_directories(edition: str) -> None:
    """A path is a directory only where another rule shows it."""
    body = b"User-agent: *\nDisallow: /login\nDisallow: /humans.txt\nDisallow: /search?q\n"
    assert RobotsTxt.parse(body, edition).lint() == ()


@given(paths=st.lists(st.text("/ab\0-", min_size=1, max_size=4), max_size=8))
def test_a_directory_is_a_path_that_others_are_inside(paths: list[str]) -> None:
    """RS901: each path is compared with all others here."""
    written = [f"/{path}" for path in paths]
    body = "User-agent: *\n" + "".join(f"Disallow: {path}\n" for path in written)
    found = {each.line for each in RobotsTxt.parse(body.encode()).lint() if each.code == "RS901"}
    expected = {
        written.index(path) + 2
        for path in written
        if not path.endswith("/") and any(each.startswith(f"{path}/") for each in written)
    }
    assert found == expected
