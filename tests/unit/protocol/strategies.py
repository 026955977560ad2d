"""Strategies of this folder: small alphabets, so that rules often nearly match.

``property/`` has generators made from the specifications; these aim at the data structures.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, has_plain_lines

HOST = "http://example.com"

#: Editions whose agents and rules are searched in the bytes of a file.
PLAIN = {name: edition for name, edition in EDITIONS.items() if has_plain_lines(edition)} | {
    "case-sensitive": replace(EDITIONS["google-2019"], case_sensitive_tokens=True),
}
EVERY = {**EDITIONS, **PLAIN}

_PIECES = [
    *("/", "/", "a", "b", "ab", "/a", "/b", "aaaa", "aab", "abc", "index.htm", "robots.txt"),
    *(
        "?",
        "=",
        ".",
        "-",
        "_",
        ";",
        "~",
        "%41",
        "%2f",
        "%2A",
        "%24",
        "%",
        "%e9",
        "%C3%A9",
        "é",
        "'",
        "%27",
    ),
    *("A", "9", "0"),
    *(" ", "\0", "\t", "\x0b", "\xff"),
]
_SPECIAL = ["*", "*", "$", "**", "*$"]
_TOKENS = ["*", "a", "a-b", "a-b-c", "A-B", "b", "foo", "foo/1.0", "* x", "*x", "", "é", "a--b"]


def _joined(pieces: list[str], most: int = 6) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=most).map("".join)


_patterns = st.tuples(st.sampled_from(["/", "/", "/", "*", "", "a"]), _joined(_PIECES + _SPECIAL))
_values = _patterns.map("".join).map(lambda text: text.strip(" \t").encode())

#: Rules as a reader of lines gives them, each on a line of its own.
raw_rules = st.lists(st.tuples(st.booleans(), _values), max_size=12).map(
    lambda rules: [(allow, value, 100 * n) for n, (allow, value) in enumerate(rules)]
)

urls = st.tuples(
    st.sampled_from(["http://x/", "http://x/", "http://x", "https://u:p@x:81", "//x/", "x", ""]),
    _joined([*_PIECES, "#", "*", "$", "\ud800"]),
).map("".join)

#: Paths in a form that may be compared with anything.
paths = _joined([piece for piece in _PIECES if piece.isascii()]).map(lambda text: "/" + text)

some_tokens = st.lists(st.sampled_from([*["a", "b"] * 3, *_TOKENS]), max_size=3)

_lines = st.one_of(
    st.tuples(
        st.sampled_from([*["User-agent"] * 6, "useragent", " USER-AGENT ", "user-agents"]),
        st.sampled_from([*[": "] * 5, ":", " : ", " ", ":\t"]),
        st.sampled_from([*["a", "b", "*"] * 3, *_TOKENS]),
        st.sampled_from(["", "", "", " # x", "#", "\t", " allow: /a", "\tdisallow:/"]),
    ),
    st.tuples(
        st.sampled_from(
            ["Disallow", "disallow", "Allow", "dISALLOW", "allow ", "\tAllow", "Disalow"]
        ),
        st.sampled_from([":", ": ", ": ", " : ", " ", ":\t"]),
        _patterns.map("".join),
        st.sampled_from(["", "", "", " ", " #c"]),
    ),
    st.sampled_from(
        [
            *("", " ", "# Disallow: /", "Disallow", "user-agent", "#user-agent: b"),
            *("x user-agent: a", "allow:", "Disallow:", "crawl-delay: 1", "Sitemap: http://x/"),
        ]
    ).map(lambda line: (line,)),
).map("".join)

bodies = st.tuples(
    st.sampled_from(["", "", "\ufeff"]),
    st.lists(st.tuples(_lines, st.sampled_from(["\n", "\n", "\r\n", "\r"])), max_size=16),
    _lines,
).map(lambda parts: (parts[0] + "".join(map("".join, parts[1])) + parts[2]).encode())


def texts(*, stars: bool) -> st.SearchStrategy[str]:
    """Patterns in their one form: prefixes, or wildcards with at least one star that counts."""
    literal = _joined(["/", "/", "a", "b", "ab", "aaaa", "aab", ".abc", "?", "=", "-x"], 4)
    if not stars:
        return literal.map(lambda text: "/" + text)
    first = st.one_of(st.just("/"), st.just(""), literal.map(lambda text: "/" + text))
    others = st.lists(literal, max_size=2)
    last = literal.filter(bool)
    end = st.sampled_from(["", "", "$"])
    return st.tuples(first, others, last, end).map(
        lambda parts: "*".join([parts[0], *parts[1], parts[2]]) + parts[3]
    )
