"""Files, URLs and tokens made of few pieces, so that rules and URLs meet often.

Uniform random bytes hardly ever make a rule that matches; these alphabets are small on purpose,
and hold each piece that any statement of ``docs/specification.md`` treats in a way of its own.
"""

from __future__ import annotations

from hypothesis import strategies as st

#: What the paths of rules and URLs are made of; where there is one, with another spelling of it.
RESPELT = {
    "a": "%61",
    "ab": "%61b",
    "~": "%7e",
    "-": "%2D",
    " ": "%20",
    "é": "%C3%A9",
    "%c3%a9": "é",
    "%E9": "%e9",
    "%2F": "%2f",
    "%2A": "*",
    "%24": "$",
    "'": "%27",
    "%27": "'",
    "*": "%2a",
    "$": "%24",
}
PIECES = [
    *RESPELT,
    *["/", "/", "/", "b", "a", "A", "?", "=", ".", ";", ":", "\t", "\0", "日"],
    *["%", "%4", "%zz", "%6", "index.html", "/index.htm", "robots.txt"],
]

NAMES = [
    *["foo", "Foo", "foo-bar", "Foo-Bar", "foobar", "bar", "foo-", "Bar-foo", "foo_bar"],
    *["foo-bar-baz", "-", "--", "_", "fo", "oo", "a", "o-b"],
]
AGENT_TAILS = [*[""] * 9, "/1.0", "*", " x", ", bar", "2", "\t*", "é", ".com"]
ODD_AGENTS = [
    "*",
    "*",
    "*",
    "*",
    "* x",
    "*foo",
    "*\tfoo",
    "*/2",
    "**",
    "",
    "3com",
    "/",
    "é",
    "\0foo",
]

#: The usual spelling first and often, then what some edition or other reads in a way of its own.
RULE_FIELDS = [
    *["Disallow"] * 9,
    *["Allow"] * 5,
    *["disallow", "ALLOW", "Disalow", "dissallow", "disallowed", "Dis allow"],
]
AGENT_FIELDS = [*["User-agent"] * 9, "user-AGENT", "useragent", "User agent", "User-agents"]
OTHER_FIELDS = ["Sitemap", "Crawl-delay", "Noindex", "Host", "", "site-map", "é", "al low"]
COLONS = [*[": "] * 20, ":", " :", "\t: \t", " ", "  ", "\t", "", ":\v", "\f:", "::"]
COMMENTS = [*[""] * 15, "#", " # x", "# a: b", "#Disallow: /"]
MARGINS = [*[""] * 20, " ", "\t ", "\v", "\f", "\0", "\xa0"]
LINE_ENDS = [*[b"\n"] * 20, b"\r\n", b"\r", b"\n\n", b"\n \n", b"\r\r\n"]
STRAY_BYTES = [b"\xe9", b"\xff\xfe", b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85"]
ODD_LINES = [b"", b" ", b"\t", b"#", b" # x", b"<html>", b":", b"a b"]
STARTS = [*[b""] * 12, b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b"\xbb"]
HOSTS = [*["http://example.com"] * 9, "https://u;s:p@example.com:81", "http://[::1]", "ftp://é.eu"]

pieces = st.lists(st.sampled_from(PIECES), max_size=5)


@st.composite
def patterns_for(draw: st.DrawFn, parts: list[str]) -> str:
    """A rule's path that has a good chance to match the path made of ``parts``."""
    start = draw(st.sampled_from([*["/"] * 12, "", "*", "$", "%2F", "/*"]))
    kept = parts[: draw(st.integers(0, len(parts)))]
    if kept and draw(st.integers(0, 2)) == 0:
        place = draw(st.integers(0, len(kept) - 1))
        kept[place] = draw(st.sampled_from(["*", "*", RESPELT.get(kept[place], "b"), "$"]))
    end = draw(st.sampled_from([*[""] * 6, "*", "*", "$", "$", "**", "*$", "$$", "b", "/", "%"]))
    return start + "".join(kept) + end


def spelled_line(draw: st.DrawFn, fields: list[str], value: str) -> bytes:
    """A line with a field and a value, mostly written as people write it."""
    margin, field, colon = (draw(st.sampled_from(part)) for part in (MARGINS, fields, COLONS))
    tail, comment = (draw(st.sampled_from(part)) for part in (MARGINS, COMMENTS))
    return f"{margin}{field}{colon}{value}{tail}{comment}".encode()


@st.composite
def lines_for(draw: st.DrawFn, parts: list[str]) -> bytes:
    """One line of a file, most often a rule."""
    kind = draw(st.integers(0, 19))
    if kind < 12:
        return spelled_line(draw, RULE_FIELDS, draw(patterns_for(parts)))
    if kind < 17:
        return spelled_line(draw, AGENT_FIELDS, draw(agents))
    if kind == 17:
        return spelled_line(draw, OTHER_FIELDS, draw(patterns_for(parts)))
    if kind == 18:
        return draw(st.sampled_from(ODD_LINES))
    stray = draw(st.sampled_from(STRAY_BYTES))
    line = spelled_line(draw, RULE_FIELDS, draw(patterns_for(parts)))
    return stray + line if draw(st.booleans()) else line + stray


agents = st.one_of(
    st.builds(str.__add__, st.sampled_from(NAMES), st.sampled_from(AGENT_TAILS)),
    st.sampled_from(ODD_AGENTS),
)


@st.composite
def bodies_for(draw: st.DrawFn, parts: list[str]) -> bytes:
    """A file whose first group is one that the tokens below often follow."""
    first = draw(st.sampled_from(["foo", "*", "foo", "*", "foo-bar", "bar"]))
    lines = draw(st.lists(lines_for(parts), min_size=1, max_size=10))
    ends = (draw(st.sampled_from(LINE_ENDS)) for _ in lines)
    start = draw(st.sampled_from(STARTS)) + f"User-agent: {first}\n".encode()
    return start + b"".join(line + end for line, end in zip(lines, ends, strict=True))


tokens = st.one_of(
    st.sampled_from([("foo",), ("foo",), ("foo-bar",), ("FOO", "bar")]),
    st.lists(st.sampled_from([*NAMES, "", "qux", "foo/2", "éfoo", "*"]), max_size=3).map(tuple),
)


@st.composite
def urls_for(draw: st.DrawFn, parts: list[str]) -> str:
    """The URL of the path made of ``parts``, now and then with something behind it or no path."""
    host = draw(st.sampled_from(HOSTS))
    tail = draw(st.sampled_from([*[""] * 9, "?a", ";a", "#a", "?", "b", "/"]))
    no_path = draw(st.integers(0, 19)) == 0
    return host + tail if no_path else f"{host}/{''.join(parts)}{tail}"


#: PAT-07: escapes, and the beginnings of some.
ESCAPES = [
    *["%", "%", "%4", "%2", "%e", "%E", "%C3", "%20", "%2F", "%2A", "%24", "%25", "%41", "%30"],
    *["%34", "%zz", "/", "a", "4", "2", "0", "E", "z", "?", "'", "é"],
]


@st.composite
def escape_interviews(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[str]]:
    """Rules, and the paths of URLs, some of which they cut inside an escape."""
    parts = draw(st.lists(st.sampled_from(ESCAPES), max_size=6))
    cut = st.sampled_from([*[""] * 3, "*", "%", "$", "%4", "*$", "%*", "*%E"])
    rules = []
    for kind in draw(st.lists(st.sampled_from(["Disallow", "Disallow", "Allow"]), min_size=1)):
        kept = parts[: draw(st.integers(0, len(parts)))]
        if kept:
            at = draw(st.integers(0, len(kept) - 1))
            kept[at] = draw(st.sampled_from([kept[at][:2], kept[at], "*", *ESCAPES]))
        rules.append((kind, f"/{''.join(kept)}{draw(cut)}"))
    others = draw(st.lists(st.lists(st.sampled_from(ESCAPES), max_size=4), max_size=2))
    return rules, [f"/{''.join(each)}" for each in (parts, *others)]


Case = tuple[bytes, str, tuple[str, ...]]

#: A file, a URL that its rules have to do with, and a crawler's tokens.
cases = pieces.flatmap(lambda parts: st.tuples(bodies_for(parts), urls_for(parts), tokens))

patterns = pieces.flatmap(patterns_for)
urls = pieces.flatmap(urls_for)

#: Anything at all.
wild_bodies = st.one_of(st.binary(max_size=200), pieces.flatmap(bodies_for))
wild_urls = st.one_of(urls, st.text(max_size=30), st.binary(max_size=30), urls.map(str.encode))
wild_tokens = st.one_of(
    st.text(max_size=8), tokens, st.lists(st.text(max_size=5), max_size=3).map(tuple)
)

#: A file, and several questions to it.
interviews = pieces.flatmap(
    lambda parts: st.tuples(
        bodies_for(parts),
        st.lists(st.tuples(urls_for(parts), tokens), min_size=2, max_size=8),
    )
)
