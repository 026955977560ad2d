"""Searching the bytes of a file finds what reading its lines does, in any edition."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice

import pytest

from scrapy_robotspec.editions import EDITIONS, GOOGLE_FIELDS, PLAIN_FIELDS, AgentMatch, Edition
from scrapy_robotspec.protocol.agent_index import index_agents, numbers_of
from scrapy_robotspec.protocol.groups import AllGroups, is_absolute, read_sitemaps
from scrapy_robotspec.protocol.lines import raw_rules, read_lines
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import best_key
from scrapy_robotspec.protocol.robots_file import Index, RobotsFile

GOOGLE_2019, GOOGLE, CLASSIC = (EDITIONS[name] for name in ("google-2019", "google", "classic"))

#: The presets, and each field that changes how lines are read in an edition of its own.
VARIANTS = [
    *EDITIONS.values(),
    replace(GOOGLE, name="short lines", max_line=40),
    replace(GOOGLE, name="whole names", whole_agent_names=True),
    replace(GOOGLE, name="one spelling", decode_unreserved=True),
    replace(CLASSIC, name="case", case_sensitive_tokens=True),
    replace(GOOGLE_2019, name="blank lines", blank_line_ends_group=True),
    replace(GOOGLE_2019, name="spaces", whitespace=b" "),
    replace(GOOGLE_2019, name="more white space", whitespace=b" \t\n\v\f\r"),
    replace(GOOGLE_2019, name="colons", missing_colon=True),
    replace(GOOGLE_2019, name="beginnings", fields_by_prefix=True),
    replace(GOOGLE_2019, name="NUL", nul_ends_line=True, max_line=60),
    replace(GOOGLE_2019, name="contained", agent_match=AgentMatch.CONTAINED),
    replace(GOOGLE_2019, name="spellings", known_fields=GOOGLE_FIELDS),
    replace(GOOGLE_2019, name="nothing known", known_fields=(), missing_colon=True),
    replace(GOOGLE_2019, name="pages", index_html=True, empty_rules_decide_line=True),
    replace(GOOGLE_2019, name="empty", empty_tokens=True, star_ignores_text=False),
    replace(
        GOOGLE_2019,
        name="own words",
        known_fields=(*PLAIN_FIELDS, (b"forbid", "disallow"), (b"robot", "user-agent")),
    ),
    replace(
        GOOGLE_2019, name="other meanings", known_fields=((b"disallow", "allow"), *PLAIN_FIELDS)
    ),
    replace(GOOGLE, name="shadowed", known_fields=((b"dis", "sitemap"), *PLAIN_FIELDS)),
]
#: Few random files are plain in these.
NEVER_PLAIN = {"nothing known", "other meanings", "shadowed"}

AGENTS = [*["User-agent"] * 9, "user-AGENT", "useragent", "User agent", "User-agents", "robot"]
RULES = [
    *[*["Disallow"] * 9, *["Allow"] * 5, "disallow", "ALLOW", "Disalow", "dissallow", "disallowed"],
    *["Dis allow", "allow-all", "al low", "forbid", "disallowallow", "allow allow", "all"],
]
OTHERS = ["Sitemap", "Crawl-delay", "Noindex", "", "site-map", "Content-Usage", "x user-agent"]
COLONS = [*[": "] * 20, ":", " :", "\t: \t", " ", "  ", "\t", "", ":\v", "\f:", "::", ": \r"]
MARGINS = [*[""] * 24, " ", "\t ", "\v", "\f", "\0", "\xa0", "#"]
NAMES = [
    *["*", "*", "foo", "foo", "bar", "foo-bar", "Foo/1.0", "* x", "*foo", "", "foo bar", "é"],
    *["3com", "foo # c", "*/2", "foo*", "a disallow: /", "user-agent: bar"],
]
PATHS = [
    *["/", "/", "/a", "/a/b", "/*a", "/a$", "", "", "a", "*", "/index.htm", "/a/index.html"],
    *["/%61", "/b%", "/x y", "*a", "/a#c", "/a user-agent: foo", "/allow: /b", "/a:b"],
]
SITEMAPS = ["Sitemap", "SITEMAP", "site-map", "sitemaps", "plan", "Planning", "x sitemap"]
PLACES = ["https://h/a", "https://h/sitemap: b", "/plan", "//h/x", "a", "", "https://h/a # plan"]
#: Spellings of the field that no preset has; an empty one begins every name.
OTHER_SITEMAPS = [
    replace(GOOGLE_2019, name="plan", known_fields=(*PLAIN_FIELDS, (b"plan", "sitemap"))),
    replace(GOOGLE, name="plans", known_fields=((b"plan", "sitemap"), *GOOGLE_FIELDS)),
    replace(GOOGLE, name="all", known_fields=(*GOOGLE_FIELDS, (b"", "sitemap"))),
    replace(GOOGLE_2019, name="plan alone", known_fields=((b"plan", "sitemap"),)),
    replace(GOOGLE_2019, name="an agent", known_fields=((b"sitemap", "user-agent"),)),
]
ENDS = [
    *[*["\n"] * 20, *["\r\n"] * 4, "\r", "\n\n", "\n \n", "\r\r\n", "\n\t\n", "\r\n\r\n"],
    *["\n\v\n", "\0\n"],
]
ODD_LINES = [
    *["", "#", "# a: b", " # x", "<html>", "a b", "Disallow", "user-agent", "allow /a"],
    *["#User-agent: foo", "x" * 50, "# " + "y" * 60, "\r", "\f", "Disallow: /" + "z" * 50],
]
URLS = [f"http://h/{path}" for path in ("a", "", "a/", "b%20", "robots.txt", "zz/index.html")]
TOKENS: list[tuple[str, ...]] = [("foo",), ("bar",), ("foo-bar", "bar"), ()]


def lines(numbers: random.Random) -> Iterator[str]:
    """Lines and their ends, mostly written as people write them."""
    for _ in range(numbers.randrange(1, 9)):
        kind = numbers.randrange(20)
        fields, values = (RULES, PATHS) if kind < 9 else (AGENTS, NAMES)
        if kind == 16:
            fields = OTHERS
        parts = (ODD_LINES,) if kind > 16 else (MARGINS, fields, COLONS, values, MARGINS)
        yield from map(numbers.choice, (*parts, ENDS))


def files(numbers: random.Random) -> Iterator[bytes]:
    while True:
        start = numbers.choice([*[b""] * 20, b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\xef\xbb"])
        yield start + "".join(lines(numbers)).encode()


def same(body: bytes, edition: Edition, numbers: random.Random) -> None:
    """The search leads each crawler to what a reader of all lines finds."""
    every = AllGroups(body, edition)
    index = Index(RobotsFile(body, edition))
    names = [(key, name) for key, (name, _) in index.places.items()]
    assert names == [(key, name) for key, (name, _) in every.places.items()]
    for key in every.places:
        groups = [every.groups[number] for number in numbers_of(every.places, [key])]
        expected = raw_rules(line for group in groups for line in group.rules)
        assert index.rules_of([key]).rules == expected
    for tokens in TOKENS:
        first, second = RobotsFile(body, edition).follow(tokens), index.follow(tokens)
        assert (first.keys, first.names) == (second.keys, second.names)
        rules = second.rules.rules
        assert first.rules.rules == rules
        url = numbers.choice(URLS)
        path = path_of(url, edition)
        if path != ROBOTS_TXT or not edition.robots_txt_allowed:
            assert first.rules.find(url) == best_key(rules, path, edition)  # without compiling


@pytest.mark.parametrize("seed", range(10))
def test_the_search_finds_what_reading_finds(seed: int) -> None:
    """FMT-05 to FMT-15, GRP-01 to GRP-08, UAG-01 to UAG-10: 20,000 files in all."""
    numbers = random.Random(seed)
    plain = dict.fromkeys((edition.name for edition in VARIANTS), 0)
    for body, edition in zip(islice(files(numbers), 2_000), cycle(VARIANTS), strict=False):
        plain[edition.name] += index_agents(body, edition) is not None
        try:
            same(body, edition, numbers)
        except AssertionError as error:
            raise AssertionError(f"{edition.name}: {body!r}") from error
    assert {name for name, number in plain.items() if not number} <= NEVER_PLAIN


@pytest.mark.parametrize("edition", [*VARIANTS, *OTHER_SITEMAPS], ids=lambda each: each.name)
def test_sitemaps_are_those_of_all_lines(edition: Edition) -> None:
    """SIT-01, FMT-08, FMT-10: in any spelling that the edition reads."""
    numbers = random.Random(edition.name)
    number = 0
    for _ in range(1_000):
        parts = [MARGINS, SITEMAPS, COLONS, PLACES, MARGINS, ENDS]
        kinds = [parts if numbers.randrange(3) else [ODD_LINES, ENDS] for _ in range(4)]
        body = "".join(numbers.choice(each) for kind in kinds for each in kind).encode()
        urls = [decode(line.value) for line in read_lines(body, edition) if line.field == "sitemap"]
        whole = [f"https:{url}" if url.startswith("//") else url for url in urls]
        whole = [f"https://h{url}" if url.startswith("/") else url for url in whole]
        expected = tuple(filter(is_absolute, whole)) if edition.other_fields else ()
        assert read_sitemaps(body, edition, "https://h") == expected, body
        number += len(expected)
    assert bool(number) is (edition.other_fields and edition.name != "an agent")


@pytest.mark.parametrize("edition", VARIANTS, ids=lambda edition: edition.name)
def test_a_usual_file_is_plain(edition: Edition) -> None:
    """Only a field whose usual spelling means another takes the slow way."""
    body = b"# x\r\nUser-agent: *\r\nDisallow: /a\r\n\r\nUser-agent: b\r\nAllow: /\r\n"
    assert (index_agents(body, edition) is None) is (edition.name in NEVER_PLAIN)
