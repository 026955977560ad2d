"""Usage preferences as values, Structured Fields against another parser, and their limits."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tracemalloc
from unittest.mock import patch

import pytest
from http_sfv.dictionary import Dictionary
from http_sfv.token import Token  # type: ignore[attr-defined]
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec import EDITIONS, Edition, RobotsTxt, Usage
from scrapy_robotspec.access.usage_policy import as_written
from scrapy_robotspec.protocol import wildcards
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.paths import canonical_path, canonical_text
from scrapy_robotspec.protocol.patterns import END, matches
from scrapy_robotspec.protocol.unusual_patterns import canonical_pattern
from scrapy_robotspec.protocol.usage import combine, parse_preferences, with_header

SITE = "https://example.com"

#: Parts of dictionaries, and characters that break them.
PIECES = [
    *["train-ai", "search", "a", "b", "*x", "A", "y", "n", "yes", "no"],
    *["=", "=", "=", ",", ", ", ";", " ", "\t", '"', '"n"', "\\", "?1", "?0", "1", "-1.5"],
    *["(", ")", ":aGk=:", "@1", '%"a%c3%bc"', "é", "\x7f", "\0"],
]
members = st.builds(
    "{}={}{}".format,
    st.sampled_from(["train-ai", "search", "ai-input", "*x"]),
    st.sampled_from(["y", "n", "?0", '"n"', "1", "(y n)", "maybe", "@1"]),
    st.sampled_from(["", "", ";p", ";p=n", ' ;p="?"']),
)
dictionaries = st.one_of(
    st.lists(members, max_size=5).map(", ".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)
usages = st.builds(Usage.from_header, dictionaries)


def read_by_another_parser(value: str) -> dict[str, str]:
    """The preferences as http_sfv, which shares no code with http-sf's parser, reads them."""
    dictionary = Dictionary()
    try:
        dictionary.parse(value.encode())
    except ValueError:
        return {}
    meanings = {"y": "allow", "n": "disallow"}
    return {
        label: meanings[str(member.value)]
        for label, member in dictionary.items()
        if isinstance(getattr(member, "value", None), Token) and str(member.value) in meanings
    }


@given(dictionaries)
@example("train-ai=y, train-ai, search=n")
def test_structured_fields_agree_with_another_parser(value: str) -> None:
    """USE-04: the same dictionaries parse, and the same members count."""
    assert parse_preferences("header", value) == read_by_another_parser(value)


# --- values


@given(usages, usages, usages)
def test_combination_does_not_depend_on_order(one: Usage, two: Usage, three: Usage) -> None:
    """USE-04: commutative in what is preferred, associative, idempotent."""
    assert (one | two).preferences == (two | one).preferences
    assert (one | two) | three == one | (two | three)
    assert one | one == one


@given(usages, usages)
def test_combination_is_the_most_restrictive(one: Usage, two: Usage) -> None:
    """USE-04: label by label, any disallow, else any allow, else unknown."""
    for label in {*one.preferences, *two.preferences, "other"}:
        stated = {one.preferences.get(label), two.preferences.get(label)}
        expected = "disallow" if "disallow" in stated else "allow" if "allow" in stated else None
        assert (one | two).preferences.get(label) == expected


@given(usages)
def test_usage_survives_pickling_and_copying(usage: Usage) -> None:
    """It travels in a request's meta, through a job directory too."""
    for again in (pickle.loads(pickle.dumps(usage)), copy.deepcopy(usage), copy.copy(usage)):
        assert again == usage
        assert hash(again) == hash(usage)


def test_preferences_cannot_be_changed() -> None:
    given_preferences = {"search": "allow"}
    usage = Usage(preferences=given_preferences)  # type: ignore[arg-type]
    given_preferences["search"] = "disallow"
    assert usage.preferences == {"search": "allow"}
    with pytest.raises(TypeError):
        usage.preferences["search"] = "disallow"  # type: ignore[index]


@pytest.mark.parametrize("value", [None, 1, ["search=n"], bytearray(b"search=n")])
def test_header_of_another_type_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="must be bytes or str"):
        Usage.from_header(value)  # type: ignore[arg-type]


# --- whatever the file holds


@pytest.mark.parametrize("edition", EDITIONS)
@given(
    st.lists(st.sampled_from(
        [b"User-agent: *\n", b"User-agent: foo\n", b"Disallow: /a\n", b"Allow: /ab\n", b"\n",
         b"Content-Usage: train-ai=n\n", b"Content-Usage: /a search=n\n", b"# Content-Usage\n",
         b"Content-Signal: /a* ai-train=no\n", b"License: http://a/b\n", b"Content-Usage: /\n",
         b"content-usage: / \xff\n", b"Content-Usage: /\xe9 \x00\n", b"Crawl-delay: 1\n"]
    )),
    st.sampled_from(["/a", "/ab", "/é", "/robots.txt", "", "/a%"]),
    st.sampled_from(["foo", "bar", ("bar", "foo"), "*"]),
)  # fmt: skip
def test_usage_lines_change_no_verdict(
    edition: str, lines: list[bytes], path: str, tokens: str | tuple[str, ...]
) -> None:
    """USE-08: each line replaced by a comment, the verdicts and groups are the same."""
    robots = RobotsTxt.parse(b"".join(lines), edition)
    ours = (b"content-", b"license")
    without = RobotsTxt.parse(
        b"".join(b"#\n" if line.lower().startswith(ours) else line for line in lines), edition
    )
    assert robots.explain(SITE + path, tokens) == without.explain(SITE + path, tokens)
    assert robots.groups == without.groups
    assert robots.usage(SITE + path, tokens).applies is robots.allowed(SITE + path, tokens)
    assert without.usage(SITE + path, tokens).statements == ()


def test_every_statement_of_a_crawler_can_be_listed() -> None:
    robots = RobotsTxt.parse(
        b"Content-Signal: search=yes\nUser-agent: foo\nContent-Usage: /a search=n\n"
        b"Content-Usage: search=y\nAllow: /\n\nUser-agent: bar\nContent-Usage: search=n\n"
    )
    statements = robots.usage_rules("foo").statements
    assert [(each.source, each.path, each.line) for each in statements] == [
        ("content-signal", None, 1),
        ("content-usage", "/a", 3),
        ("content-usage", None, 4),
    ]
    assert not RobotsTxt.parse(b"User-agent: *\nDisallow: /\n").usage_rules("foo")


def test_usage_of_many_crawlers_is_kept_apart() -> None:
    lines = (f"User-agent: a{'b' * i}\nContent-Usage: l{i}=n\nAllow: /\n" for i in range(30))
    robots = RobotsTxt.parse("".join(lines).encode(), "rfc9309")
    for _ in range(2):
        for i in range(30):
            assert robots.usage(SITE, f"a{'b' * i}").preferences == {f"l{i}": "disallow"}


def test_file_without_statements_loads_no_parser() -> None:
    """Structured Fields are imported for the first statement, not before."""
    code = """if True:
        import sys
        from scrapy_robotspec import RobotsTxt, Usage
        robots = RobotsTxt.parse(b"User-agent: *\\nDisallow: /a\\nContent: a\\n# content-usage")
        assert robots.usage("http://a/", "foo") == Usage()
        assert "http_sf" not in sys.modules
        robots = RobotsTxt.parse(b"User-agent: *\\nContent-Usage: search=n;a")
        assert robots.usage("http://a/", "foo").preferences
        assert "http_sf" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


# --- which path decides

PATTERNS = [
    "",
    "/",
    "/a",
    "/a*",
    "/a$",
    "/*b",
    "/a*b",
    "/ab",
    "/abc",
    "/*",
    "/a/b",
    "/%61b",
    "/*b$",
]


def decided_plainly(lines: list[tuple[str, str]], path: str, edition: Edition) -> object:
    """The preferences by the definition: the longest of all patterns that match, combined."""
    stated = []
    for pattern, value in lines:
        length = -1
        if pattern:
            measured = canonical_pattern(canonical_text(pattern.encode(), edition), edition)
            assert measured is not None
            if not matches(measured[0], canonical_path(path, edition) + END):
                continue
            length = measured[1]
        stated.append((length, parse_preferences("content-usage", value)))
    longest = max((length for length, _ in stated), default=-1)
    return combine(preferences for length, preferences in stated if length == longest)


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)
@given(
    st.lists(st.tuples(st.sampled_from(PATTERNS), st.sampled_from(["x=y", "x=n", "y=n", "?"]))),
    st.sampled_from(["/", "/a", "/ab", "/abc", "/a/b", "/b", "/a*", "/A"]),
)
@example([("/a", "y=n"), ("/*", "x=y")], "/a")  # equally long where the star counts
def test_deciding_path_is_the_longest_that_matches(
    edition: Edition, lines: list[tuple[str, str]], path: str
) -> None:
    """USE-01, USE-02: the index of paths agrees with the definition."""
    written = (f"Content-Usage: {pattern} {value}\n" for pattern, value in lines)
    robots = RobotsTxt.parse(("User-agent: *\n" + "".join(written)).encode(), edition)
    usage = robots.usage(SITE + path, "foo")
    assert usage.preferences == decided_plainly(lines, path, edition)


def test_statements_are_not_kept_longer_than_their_file() -> None:
    """SAF-01: long ones of many sites do not fill the memory of a crawl."""
    labels = ", ".join(f"label-{number}=y" for number in range(5000))
    tracemalloc.start()
    for site in range(20):
        text = f"User-agent: *\nContent-Usage: site-{site}=y, {labels}\nAllow: /\n"
        assert RobotsTxt.parse(text.encode()).usage("/", "*").preferences["label-0"] == "allow"
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < peak / 4


@pytest.mark.parametrize("pattern", ["/a{n}", "/a{n}$", "/*b{n}", "/*b{n}*c", "/b*{n}$"])
def test_a_url_is_compared_with_few_of_many_paths(pattern: str) -> None:
    """SAF-02: of 20,000, as rules are."""
    paths = [pattern.format(n=f"{n:05}") for n in range(20_000)]
    lines = "".join(f"Content-Usage: {path} x{n}=n\n" for n, path in enumerate(paths))
    robots = RobotsTxt.parse(f"User-agent: *\n{lines}Content-Usage: x=y\n".encode(), limit=1 << 21)
    with patch.object(wildcards, "matches", wraps=matches) as tried:
        for number in (0, 777, 19_999):
            url = SITE + paths[number].replace("$", "").replace("*", "/")
            assert robots.usage(url, "foo").preferences == {f"x{number}": "disallow"}
        assert robots.usage(f"{SITE}/-", "foo").preferences == {"x": "allow"}
        assert tried.call_count <= 3


def test_a_file_is_read_once_for_many_pages_and_crawlers() -> None:
    """SAF-02: two crawlers in turn, before and behind refused pages."""
    body = b"Content-Signal: search=no\nUser-agent: foo\nContent-Usage: x=n\nDisallow: /b\n"
    robots = RobotsTxt.parse(body + b"License: http://a/\nUser-agent: *\nContent-Usage: x=y\n")
    with patch("scrapy_robotspec.protocol.groups.read_lines", wraps=read_lines) as read:
        for _ in range(20):
            assert robots.usage(SITE + "/a", "foo").preferences == {
                "search": "disallow",
                "x": "disallow",
            }
            assert not robots.usage(SITE + "/b", "foo").applies
            assert robots.usage(SITE + "/b", ("bar", "baz")).preferences["x"] == "allow"
            assert robots.licenses == ("http://a/",)
        assert read.call_count == 1


def test_statements_of_few_crawlers_are_kept() -> None:
    """SAF-02: crawlers and statements are not multiplied."""
    lines = "".join(f"User-agent: a{'b' * n}\n" for n in range(100))
    own = "".join(f"User-agent: c{'d' * n}\nContent-Usage: x=n\nAllow:\n" for n in range(100))
    robots = RobotsTxt.parse(f"{lines}Content-Usage: x=n\nAllow:\n{own}".encode(), "rfc9309")
    for n in range(100):
        robots.usage_rules(f"c{'d' * n}")
    found = {id(robots.usage_rules(f"a{'b' * n}")) for n in range(100)}
    assert robots.usage(SITE, "abb").preferences == {"x": "disallow"}
    assert len(found) == 1
    assert robots._usage is not None
    assert len(robots._usage._kept) <= 16


POLICY = "__usage_ai-training"
policy_lines = st.sampled_from(
    [
        *[f"User-agent: {POLICY}", "User-agent: *", "User-agent: __usage", "User-agent: a", ""],
        *["Disallow: /", "Disallow: /x", "Allow: /x", "Disallow: /x/y", "Allow: /*y", "Disallow:"],
        *["Allow: /", "Content-Usage: train-ai=y", "Content-Usage: /x search=n"],
    ]
)


@pytest.mark.parametrize("edition", EDITIONS)
@given(lines=st.lists(policy_lines, max_size=10), path=st.sampled_from(["/", "/x", "/x/y", "/z"]))
@example(lines=[f"User-agent: {POLICY}", "Disallow: /x", "Allow: /x"], path="/x")
@example(lines=["User-agent: __usage", "Disallow: /"], path="/")
@example(lines=["User-agent: *", "Disallow: /x", f"User-agent: {POLICY}"], path="/x")
def test_policy_token_disallows_a_use_where_its_own_group_disallows(
    edition: str, lines: list[str], path: str
) -> None:
    """USE-10: the longest match of its own rules, without those of ``*``; no verdict changes."""
    url = f"{SITE}{path}"
    robots = RobotsTxt.parse("\n".join(lines).encode(), edition)
    verdict = robots.explain(url, POLICY)
    usage = robots.usage(url, "b")
    stated = [each for each in usage.statements if each.source == "policy-token"]
    if not robots.allowed(url, "b"):
        assert (usage.applies, stated) == (False, [])
    elif verdict.group == (POLICY,) and verdict.rule is not None and not verdict.allowed:
        assert usage.preferences["train-ai"] == "disallow"
        assert [(each.value, each.path, each.line) for each in stated] == [
            (POLICY, verdict.rule.pattern, verdict.rule.line)
        ]
        assert bool(robots.usage_rules("b"))
        assert stated[0] in robots.usage_rules("b").statements
        assert robots.file.may_have_others
    else:
        assert stated == []
    renamed = RobotsTxt.parse("\n".join(lines).replace(POLICY, "p").encode(), edition)
    assert robots.explain(url, "b") == renamed.explain(url, "b")


def test_policy_token_is_written_as_its_rule() -> None:
    """USE-10: in the reason of a refusal; case of the token does not matter."""
    robots = RobotsTxt.parse(b"User-agent: __Usage_AI-Training\nDisallow: /blog/\n")
    (statement,) = robots.usage(f"{SITE}/blog/1", "b").statements
    assert as_written(statement) == f"Disallow: /blog/ (User-agent: {POLICY})"
    combined = robots.usage(f"{SITE}/blog/1", "b") | Usage.from_header("train-ai=y, search=y")
    assert combined.preferences == {"train-ai": "disallow", "search": "allow"}


@pytest.mark.parametrize("stated", [None, Usage.from_header("train-ai=n"), Usage(applies=False)])
def test_a_header_is_combined_with_a_file_once(stated: Usage | None) -> None:
    """USE-05: pages of a site repeat both."""
    header = b"train-ai=y, search=y"
    made = with_header(stated, header)
    assert made == (stated or Usage()) | Usage.from_header(header)
    assert with_header(copy.deepcopy(stated), bytes(bytearray(header))) is made
