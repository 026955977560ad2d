"""The class of a group: allows all, denies all, some."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import extent
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.robots_file import RobotsFile

#: Every path of up to four characters that the rules below are made of, and one character more.
ALPHABET = "a/~*$"
SHORT_PATHS = [
    "/" + "".join(letters) for length in range(5) for letters in product(ALPHABET, repeat=length)
]

patterns = st.one_of(
    st.sampled_from(["/", "/*", "*", "/$", "*/$", "", "/a", "*/", "*a", "/*a"]),
    st.text("a/*$", max_size=3).map(lambda text: "/" + text),
)
rules = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns), max_size=6)


def read(body: str, edition: str) -> Rules:
    """The rules below the first line of a text."""
    text = ("User-agent: *\n" + body.partition("\n")[2]).encode()
    file = RobotsFile(text, EDITIONS[edition])
    return Rules(file.follow(()).rules.rules, file.edition)


def classify(body: str, edition: str) -> str:
    """The class that the rules of a text have."""
    found = read(body, edition).extent
    return "allows all" if found == "no rules" else found


@pytest.mark.parametrize("edition", EDITIONS)
@given(rules=rules)
def test_the_class_is_what_all_paths_have_in_common(
    edition: str, rules: list[tuple[str, str]]
) -> None:
    """The examples decide as all short paths together do."""
    body = "User-agent: *\n" + "".join(f"{kind}: {path}\n" for kind, path in rules)
    robots = RobotsTxt.parse(body.encode(), edition)
    verdicts = {robots.allowed(f"https://h{path}", "x") for path in SHORT_PATHS}
    expected = "some" if len(verdicts) > 1 else "allows all" if True in verdicts else "denies all"
    assert classify(body, edition) == expected
    root = robots.allowed("https://h/", "x")
    exception = read(body, edition).exception
    assert (exception is None) is (expected != "some")
    assert exception is None or robots.allowed(f"https://h{exception}", "x") is not root


#: Every path of up to four of these: escapes, and the beginnings of some (PAT-07).
ESCAPED_PATHS = [
    "/" + "".join(pieces)
    for length in range(5)
    for pieces in product(("%", "2", "%20", "%2F", "%C3", "z"), repeat=length)
]
cut_patterns = st.lists(st.sampled_from(["%", "%2", "%2F", "%C", "2", "*", "$"]), max_size=4).map(
    lambda pieces: "/" + "".join(pieces)
)
cut_rules = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), cut_patterns), max_size=5)


@pytest.mark.parametrize("edition", EDITIONS)
@given(rules=cut_rules)
def test_rules_that_are_cut_inside_escapes_have_the_class_of_all_paths(
    edition: str, rules: list[tuple[str, str]]
) -> None:
    """PAT-07: an example completes no escape by accident."""
    body = "User-agent: *\n" + "".join(f"{kind}: {path}\n" for kind, path in rules)
    robots = RobotsTxt.parse(body.encode(), edition)
    verdicts = {robots.allowed(f"https://h{path}", "x") for path in ESCAPED_PATHS}
    found = classify(body, edition)
    assert len(verdicts) == 1 or found == "some"
    exception = read(body, edition).exception
    assert (exception is not None) is (found == "some")
    root = robots.allowed("https://h/", "x")
    assert exception is None or robots.allowed(f"https://h{exception}", "x") is not root


def test_an_example_completes_no_escape_where_rules_contain_all_other_characters() -> None:
    """PAT-07: ``/%4`` with an A behind it would equal ``/J``."""
    rare = "~!'(),@:;+_.QZXJKVWYqzxjkvwy-&=GHILMNOPRSTUghilmnoprstu"
    body = f"User-agent: *\nDisallow: /%4\nAllow: /x{rare}\n"
    assert classify(body, "google-2019") == "some"


def test_rules_of_a_file_share_the_bound_of_what_is_tried() -> None:
    """SAF-02: each question takes itself and the wildcards from it; the last is not spent."""
    rules = [(False, b"/a*b", 20), (True, b"/c", 30), (False, b"/c*d", 40)]  # two have a star
    cost = extent._QUESTION + 2
    left = [2 * cost + 1]
    first, second = (Rules(rules, EDITIONS["google-2019"], left) for _ in range(2))
    assert first.allows("/axb") is False
    assert second.allows("/x") is True
    assert left == [1]
    assert first.allows("/x") is None
    assert second.allows("/x") is None
    assert Rules(rules, EDITIONS["google-2019"], [cost]).allows("/x") is None
    assert Rules(rules, EDITIONS["google-2019"], [cost + 1]).allows("/x") is True
    assert Rules(rules, EDITIONS["google-2019"]).allows("/x") is True


CASES = [
    ("Disallow: /\nAllow: /", "allows all"),  # PRE-02
    ("Disallow: *\nAllow: /robots.txt$", "denies all"),  # PRE-04
    ("Disallow: /robots.txt$", "allows all"),
    ("Disallow: /%7E\nAllow: /~", "allows all"),
    ("Disallow: *\nAllow: /$", "some"),
    ("Disallow: /%", "some"),
    ("Disallow: /\nAllow: */a$\nDisallow: /*/a$", "some"),  # only where the star is nothing
    ("Allow: /*'\nDisallow: /*'", "allows all"),  # PAT-12: in path and query
    ("Allow: /*?*'*\nDisallow: /*'", "some"),
    ("Disallow: x", "allows all"),  # RUL-04: never matches
    ("Disallow: /x\nDISALLOW : /\t# all", "denies all"),
    ("dISALLOW:/*\rDisallow: /x", "denies all"),
    ("Disallow: /\nsitemap: https://h/\n aLLOW\t:\t/x", "some"),
    ("Disallow: /\nAllow : /\r\n", "allows all"),
    ("x: Allow: /x\nDisallow: /", "denies all"),
    # Many rules of both kinds that match the same paths.
    ("Allow: /a\n" + "".join(f"Disallow: /a{n}\nAllow: /a{n}\n" for n in range(50)), "allows all"),
    (
        "".join(f"Disallow: /a{n}\nAllow: /a{n}\n" for n in range(50)) + "Disallow: /a49/",
        "some",
    ),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_rule_counts_only_if_it_has_effect(text: str, expected: str) -> None:
    """By the precedence of the default edition."""
    assert classify(f"User-agent: *\n{text}", "google-2019") == expected


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Disallow: /admin/", "/admin/"),
        ("Disallow: /*/feed/", "/x/feed/"),
        ("Disallow: /\nAllow: *.gif$", "/x.gif"),
        ("Disallow: /\nAllow: /a\nDisallow: /a$", "/a~"),
        ("Disallow: /robots.txt", "/robots.txt~"),
        ("Disallow: /a%2ab", "/a%2Ab"),
    ],
)
def test_the_exception_is_a_path_that_a_person_would_write(text: str, path: str) -> None:
    """Where that has the verdict of the example."""
    assert read(f"x\n{text}", "google-2019").exception == path


def test_a_file_with_every_character_is_classified() -> None:
    """No single character is left for the examples."""
    every = "".join(map(chr, range(33, 127))).replace("#", "").replace("*", "").replace("$", "")
    assert classify(f"x\nDisallow: /{every}\nAllow: /", "google-2019") == "some"
    assert classify(f"x\nDisallow: /\nAllow: /{every}", "google-2019") == "some"
