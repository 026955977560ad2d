"""A verdict that a finding states is the one that ``RobotsTxt`` gives."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol import extent
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.lines import RawRule
from scrapy_robotspec.protocol.lint import effects
from scrapy_robotspec.protocol.precedence import KeyedPattern, keyed_patterns
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.ruleset import RuleSet
from tests.unit.protocol.property.strategies import bodies_for

PATHS = ["/", "/x", "/x/", "/x/y", "/xy", "/y", "/z", "/x#", "/a.pdf", "/?q", "/%78", "/*", "/~"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.lint.findings import Finding

names = ["a", "b", "*", "a-b", "Googlebot", "a, b", "Google*", "1a", "a/2", "\xa0*"]
values = ["/x", "/", "", "*", "/*", "/x/", "/x$", "/*.pdf", "/x#y", "/#", "x", "/x*", "/y", "none"]
lines = st.one_of(
    st.sampled_from([f"User-agent: {name}" for name in names]),
    st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), st.sampled_from(values)),
    st.sampled_from(["", "Crawl-delay: 5", "Crawl-delay: 6", "Sitemap: https://h/x", "# c"]),
    st.sampled_from(["Content-Usage: /x train-ai=n", "Content-Usage: search=y", "Disalow: /"]),
)
files = st.lists(lines, max_size=14).map("\n".join).map(str.encode)


class Stated(NamedTuple):
    """A verdict that the message of a finding states."""

    crawler: str
    path: str | None
    """None: every path but ``/robots.txt``."""
    allowed: bool


_SENTENCES: list[tuple[str, list[tuple[int | None, int | None, bool]]]] = [
    # What a message says, and for each of its verdicts the groups and whether it allows.
    (r'lets "([^"…]+)" fetch "([^"…]+)"', [(1, 2, True)]),
    (r'does not let "([^"…]+)" fetch "([^"…]+)"', [(1, 2, False)]),
    (r'lets "([^"…]+)" fetch "[^"]+", not "([^"…]+)"', [(1, 2, False)]),
    (r'lets "([^"…]+)" fetch every page', [(1, None, True)]),
    (r'lets "([^"…]+)" fetch no page', [(1, None, False)]),
    (r'"([^"…]+)"(?=[^:]* may fetch "([^"…]+)")', [(1, 2, True)]),
    (r'may fetch "([^"…]+)", which "\*" may not', [(None, 1, False)]),
]


def stated(finding: Finding) -> list[Stated]:
    """The verdicts in the message of a finding, those about shortened texts aside."""
    return [
        Stated(found[crawler] if crawler else "*", found[path] if path else None, allowed)
        for sentence, verdicts in _SENTENCES
        for found in re.finditer(sentence, finding.message)
        for crawler, path, allowed in verdicts
    ]


def is_true(verdict: Stated, robots: RobotsTxt) -> bool:
    """Whether a verdict is that of the file, asked for each of the paths if it is about all."""
    crawler, path, allowed = verdict
    paths = PATHS if path is None else [path]
    return all(robots.allowed(f"https://h{each}", crawler) is allowed for each in paths)


#: Names as whole values, the empty one too: a group may name nobody beside one that names it.
WHOLE_NAMES = replace(EDITIONS["google"], name="whole", whole_agent_names=True)
#: No character of a path is special: ``*.php`` begins with no slash, and never applies.
PLAIN_PATHS = replace(EDITIONS["google-2019"], name="plain", wildcards=False)


@pytest.mark.parametrize(
    "edition", [*EDITIONS.values(), WHOLE_NAMES, PLAIN_PATHS], ids=lambda each: each.name
)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(body=st.one_of(files, files, bodies_for(["x", "/", "a"])))
@example(b"User-agent:\nAllow: /\nUser-agent: **\n")
@example(b"User-agent:\nDisallow: /#\nUser-agent: **\nDisallow: /\n")
@example(b"User-agent: *\nDisallow: *\nAllow: /$\n")
@example(b"User-agent: a\n\nUser-agent: *\nDisallow: *.php\n")
@example(b"User-agent: Foo\nDisallow: /x\n\nUser-agent: Foo\n")
@example(b"User-agent: *\nAllow: *\nDisallow: /x\n")
@example(b"User-agent: *\nDisallow: *\nAllow: /ok\n")
@example(b"User-agent: *\nDisallow: /x\n\nUser-agent: Foo\nUser-agent: *\n")  # Foo is ignored
@example("User-agent: *\nDisallow: /x\n\nUser-agent: \xa0*\nAllow: /#\n".encode())
@example(b"User-agent: a\nContent-Usage: search=n\nAllow: /x\nUser-agent: b\nUser-agent: a\n")
def test_every_verdict_in_a_message_is_true(edition: Edition, body: bytes) -> None:
    """Also where other groups of the crawler, or other rules, decide."""
    robots = RobotsTxt.parse(body, edition)
    for finding in robots.lint():
        for verdict in stated(finding):
            assert is_true(verdict, robots), finding


STATED = [
    # A file, the code of a finding, and what its message has to say.
    ("User-agent: F\nDisallow: /x\n\nUser-agent: F\n", "RS206", 'lets "F" fetch "/", not "/x"'),
    ("User-agent: Foo\n", "RS206", 'lets "Foo" fetch every page'),
    ("User-agent: *\nAllow: *\nDisallow: /x\n", "RS310", 'lets "*" fetch "/", not "/x"'),
    ("User-agent: *\nDisallow: *\nAllow: /ok\n", "RS310", 'lets "*" fetch "/ok", not "/"'),
    ("User-agent: *\nDisallow: *\n", "RS310", 'lets "*" fetch no page'),
    ("User-agent: *\nDisallow: *\nAllow: /$\n", "RS310", 'lets "*" fetch "/", not "/~"'),
    ("User-agent: a\nUser-agent: b\nDisallow: *\n", "RS310", 'group of 2 crawlers ("a", "b")'),
    ("User-agent: *\nDisallow: /#top\n", "RS315", 'reads "/" and lets "*" fetch no page'),
    ("User-agent: *\nDisallow: /a#b\n", "RS315", 'reads "/a"'),
    ("User-agent: *\nDisallow: /#/\n", "RS315", 'reads "/" and lets "*" fetch no page'),
    ("User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /*a\n", "RS304", 'not let "*" fetch "/a"'),
    ("User-agent: *\n\nUser-agent: a\nDisallow: /\nAllow: /b\n", "RS208", '"*" fetch "/b", not'),
    ("User-agent: *\n\nUser-agent: a\nDisallow: /*\n", "RS208", 'lets "*" fetch no page'),
    ("User-agent: *\nDisallow: /\nAllow: /b\nDisallow: /b\n", "RS304", 'lets "*" fetch "/b"'),
    (
        "User-agent: *\nDisallow: /admin/\n\nUser-agent: Googlebot\nDisallow: /search\n",
        "RS215",
        '"Googlebot" may fetch "/admin/", which "*" may not',
    ),
    ("User-agent: *\nDisallow: /s\nSitemap: https://a.example/s.xml?a#b\n", "RS405", '"/s.xml?a".'),
    ("User-agent: A\n\nUser-agent: b\nDisallow: /\n", "RS208", 'lets "A" fetch no page'),
    ("User-agent: A\nHost: h\nUser-agent: *\nDisallow: /p/\n", "RS208", 'fetch "/", not "/p/"'),
    ("User-agent: A\n\nUser-agent: b\nDisallow: /\nUser-agent: a\nAllow: /x", "RS208", '"/x", not'),
    ("User-agent: *\nDisallow: /caf\u00e9/\n", "RS312", 'wants the path as "/caf%C3%A9/"'),
    ("User-agent: *\nAllow: /" + 20 * "\u00e9", "RS312", f'"/{20 * "%C3%A9"}"'),
    ("User-agent: AI2Bot\nDisallow: /\n", "RS219", 'read as "AI" by google-2019, rfc'),
    ("User-agent: AI2Bot\nDisallow: /\n", "RS219", 'lets "AI" fetch no page, as it reads "AI"'),
    ("User-agent: 360Spider\nDisallow: /\n", "RS219", 'lets "*" fetch every page, and so the'),
    ("User-agent: Mozilla/4.0 (compatible; MSIE 4.0)\n", "RS211", "name, not a User-Agent header"),
    ("User-agent: GPTBot CCBot\nDisallow: /\n", "RS203", '"CCBot" does not follow the group'),
    ("User-agent: Sogou web spider\n", "RS203", "The text after the name is ignored"),
    ("User-agent: *\nDisallow: /s\nSitemap: /s.xml\n", "RS405", 'does not let "*" fetch "/s.xml"'),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "words"), STATED)
def test_the_message_says_what_follows(body: str, code: str, words: str) -> None:
    """A verdict that a message states is one that the test above reads in it."""
    found = [each for each in RobotsTxt.parse(body.encode()).lint() if each.code == code]
    assert any(words in finding.message for finding in found), found
    assert any(map(stated, found)) or "fetch" not in words, found


NAMELESS = "User-agent: 360Spider\nCrawl-delay: 5\nCrawl-delay: 10\nAllow: /\n"


@pytest.mark.parametrize(
    ("body", "code", "edition"),
    [
        ("User-agent: a\nCrawl-delay: 5\nCrawl-delay: 9\n", "RS406", "classic"),  # offers none
        ("User-agent: a\nCrawl-delay: 5s\nCrawl-delay: 9s\n", "RS406", "google-2019"),  # ignored
        (NAMELESS, "RS406", "google-2019"),  # two nameless crawlers are not the same
        (
            "User-agent: a\nAllow: /a\n\nUser-agent: *\nUser-agent: a\nAllow: /\n",
            "RS205",
            "classic",
        ),
        ("User-agent: *\nUser-agent: ChatGPT-User\nDisallow: /\n", "RS209", "classic"),
    ],
)
def test_an_edition_that_reads_a_line_otherwise_has_no_finding(
    body: str, code: str, edition: str
) -> None:
    """EXT-01, UAG-10: names beside ``*`` do not count."""
    found = {each.code for each in RobotsTxt.parse(body.encode(), edition).lint()}
    assert code not in found
    if edition == "classic":
        assert code in {each.code for each in RobotsTxt.parse(body.encode()).lint()}


def test_a_long_crawl_delay_outside_of_a_group_is_not_accepted() -> None:
    """Two findings about one line do not contradict one another."""
    found = RobotsTxt.parse(b"Crawl-delay: 600\n").lint()
    assert [(each.code, each.message.partition("; ")[2]) for each in found] == [
        ("RS201", "google-2019 ignores it."),
        ("RS403", "google-2019 has no limit."),
    ]


def test_a_star_may_be_a_character_behind_a_slash_that_is_assumed() -> None:
    """RUL-04, PAT-02."""
    edition = replace(EDITIONS["google-2010"], name="mine", wildcards=False)
    robots = RobotsTxt.parse(b"User-agent: a\nDisallow: *\n", edition)
    assert not robots.allowed("http://a.example/*", "a")
    assert "never" not in next(each.message for each in robots.lint() if each.code == "RS310")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rules, each time that those of some groups are read."""
    sizes: list[int] = []

    class Counted(Rules):
        def __init__(self, rules: Sequence[RawRule], edition: Edition, left: list[int]) -> None:
            sizes.append(len(rules))
            super().__init__(rules, edition, left)

    monkeypatch.setattr(effects, "Rules", Counted)
    return sizes


def test_rules_are_read_in_proportion_to_the_file(read: list[int]) -> None:
    """SAF-02: names that combine a long group with their own are not multiplied with its rules."""
    names = [f"User-agent: {letters(number)}\n" for number in range(1000)]
    rules = "".join(f"Disallow: /{number}\n" for number in range(1000))
    own = (
        f"{name}Disallow: *\nDisallow: /x{at}\n" for at, name in enumerate(names)
    )  # no two alike
    body = "".join(names) + rules + "".join(own)
    found = RobotsTxt.parse(body.encode()).lint()
    assert sum(finding.code == "RS310" for finding in found) == len(names)
    assert sum(read) <= 4 * len(body) / len("Disallow: *\n") + 2 * len(names)


def test_rules_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked about those of a group.

    All of them are compiled, and those that others have to overrule.
    """
    read: list[int] = []
    compiled: list[int] = []

    def keyed(rules: Sequence[RawRule], edition: Edition) -> list[KeyedPattern]:
        read.append(len(rules))
        return keyed_patterns(rules, edition)

    def compile_rules(keyed: Sequence[KeyedPattern], edition: Edition) -> RuleSet:
        compiled.append(len(keyed))
        return RuleSet(keyed, edition)

    monkeypatch.setattr(extent, "keyed_patterns", keyed)
    monkeypatch.setattr(extent, "RuleSet", compile_rules)
    names = ["*", *map(letters, range(100))]
    rules = "Disallow: /x/\nAllow: /x/a\nAllow: /x/\nDisallow: /y\nDisallow: *\nAllow: /"
    groups = "".join(f"User-agent: {name}\n{rules}{len(name)}\n\n" for name in names)
    RobotsTxt.parse(f"{groups}Sitemap: /x/s.xml\nSitemap: /y\n".encode()).lint()
    assert read == [6] * len(names)
    assert len(compiled) <= 2 * len(read)


def test_a_group_that_closes_the_site_is_read_where_others_are_followed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else nothing is asked about its rules, which are those of most groups (RS304)."""
    read: list[int] = []

    def keyed(rules: Sequence[RawRule], edition: Edition) -> list[KeyedPattern]:
        read.append(len(rules))
        return keyed_patterns(rules, edition)

    monkeypatch.setattr(extent, "keyed_patterns", keyed)
    alone = "".join(f"User-agent: {letters(n)}\nDisallow: /\n\n" for n in range(100))
    body = f"{alone}User-agent: *\nDisallow: /a\n\n"
    assert RobotsTxt.parse(body.encode()).lint() == ()
    assert read == [1]
    body += "User-agent: y\nUser-agent: a\nAllow: /\n"
    found = [each for each in RobotsTxt.parse(body.encode()).lint() if each.code == "RS304"]
    assert [each.line for each in found] == [len(body.splitlines())]
    assert read == [1, 1, 2, 1]  # those of y are not those of the first group's crawler


def letters(number: int) -> str:
    """A name for a number."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
