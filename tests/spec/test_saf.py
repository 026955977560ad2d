"""SAF, PAT-11: files and URLs meant to hurt. What grew too fast would not come to an end."""

from __future__ import annotations

import pytest

from scrapy_robotspec.cli.app import main
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.text import safe

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)

ODD_URLS: list[str | bytes] = [
    "", "/", "x", "?", "#", "://", "http://", "http:///", "http://[::1/", "http://[", "http://a:b:c/",
    "http://a:b/", "http://a.b:99999999999999999999/", "//", "//a", "///", "\0",
    "http://\0/\0", "http://a/%",
    "http://a/\ud800", "\udfff", "http://a/\U0010ffff", "data:,", "javascript:alert(1)",
    "http://a/ b",
    b"", b"\xff\xfe", b"http://\xff/\xff%", "http://a/" + "../" * 1000, "http://a/" + "a" * 100_000,
    "HTTP://A", "http:/a", "http:a", "a://b://c/", "?://x/y", "#://x/y",
]  # fmt: skip


@in_every_edition
@pytest.mark.parametrize("url", ODD_URLS, ids=range(len(ODD_URLS)))
def test_no_url_makes_anything_raise(edition: str, url: str | bytes) -> None:
    """SAF-01: a verdict for whatever is asked; explain, allowed and matches agree."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /*\xff\nAllow: /$\nDisallow: /\n", edition)
    verdict = robots.explain(url, "FooBot")
    assert verdict.allowed is robots.allowed(url, "FooBot")
    assert (verdict.rule is None) or verdict.rule == robots.matches(url, "FooBot")[0]


@in_every_edition
@pytest.mark.parametrize("token", ["*", "a" * 100_000, "-" * 5000])
def test_no_product_token_makes_anything_raise(edition: str, token: str) -> None:
    """SAF-01: however long it is."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\n", edition)
    assert not robots.allowed("http://example.com/", token)
    assert not robots.allowed("http://example.com/", (token, token))


@in_every_edition
@pytest.mark.parametrize(
    ("token", "found"),
    [("", None), ("\0", None), ("\ud800", None), ("é" * 100, None), ("12", None), ("a b", "a"),
     ("MJ12bot", "MJ"), ("FooBot/1.0", "FooBot"), (" FooBot", "FooBot"), ("FooBot\n", "FooBot"),
     ("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "AhrefsBot")],
)  # fmt: skip
def test_token_without_a_possible_group_is_an_error(
    edition: str, token: str, found: str | None
) -> None:
    """UAG-11: never a silent miss; the message names the group's name."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\n", edition)
    asks = (robots.explain, robots.allowed, robots.matches)
    if edition in ("google", "classic"):
        assert not robots.allowed("http://example.com/", token)
        assert robots.other(token) == ()
        return
    remedy = f"its group is found under '{found}'" if found else "letters, '-' and '_'$"
    for tokens in (token, (token,), ["FooBot", token]):
        for ask in asks:
            with pytest.raises(ValueError, match=remedy):
                ask("http://example.com/", tokens)
        for read in (robots.other, robots.crawl_delay):
            with pytest.raises(ValueError, match=remedy):
                read(tokens)


@in_every_edition
def test_wrong_types_are_the_only_errors(edition: str) -> None:
    """SAF-01: a TypeError for what is neither str nor bytes, and nothing else for anything."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\n", edition)
    with pytest.raises(TypeError):
        robots.allowed(None, "FooBot")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        robots.explain(3, "FooBot")  # type: ignore[arg-type]
    for tokens in (None, 3, b"FooBot", ["FooBot", None], [b"FooBot"]):
        for ask in (robots.allowed, robots.explain, robots.matches):
            with pytest.raises(TypeError):
                ask("http://example.com/", tokens)  # type: ignore[arg-type]
        for read in (robots.crawl_delay, robots.other):
            with pytest.raises(TypeError):
                read(tokens)  # type: ignore[arg-type]


@in_every_edition
def test_many_agents_over_many_rules(edition: str) -> None:
    """SAF-02: agents and rules add up, they do not multiply."""
    agents = b"".join(b"User-agent: bot-%c%c%c\n" % name for name in letters(8000))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(8000))
    robots = RobotsTxt.parse(agents + rules, edition)
    verdict = robots.explain("http://example.com/7999", "bot-aaa")
    assert (verdict.allowed, verdict.rule and verdict.rule.line) == (False, 16_000)


def letters(number: int) -> list[tuple[int, int, int]]:
    """So many different threefold letters."""
    alphabet = b"abcdefghijklmnopqrstuvwxyz"
    every = [(one, two, three) for one in alphabet for two in alphabet for three in alphabet]
    return every[:number]


@in_every_edition
@pytest.mark.parametrize(
    "body",
    [b"a" * 500_000, b":" * 500_000, b"\n" * 500_000, b"\r" * 500_000, b"#" * 500_000,
     b" " * 500_000, b"a:" * 250_000, b"user-agent:" + b" " * 500_000 + b"s", b"\0" * 500_000,
     b"a\n" * 250_000, b"user-agent:*\n" * 38_000, b"disallow:/\n" * 45_000, b"a a" * 160_000],
    ids=range(13),
)  # fmt: skip
def test_large_and_empty_files(edition: str, body: bytes) -> None:
    """SAF-02: one endless line, or nothing but tiny ones."""
    robots = RobotsTxt.parse(body, edition)
    assert robots.allowed("http://example.com/", "FooBot")
    assert robots.sitemaps == ()


@in_every_edition
def test_prefix_rules_by_the_ten_thousands(edition: str) -> None:
    """SAF-03: a verdict among 30,000 rules is asked for 10,000 times."""
    rules = b"".join(b"Disallow: /%05d\n" % number for number in range(30_000))
    robots = RobotsTxt.parse(b"User-agent: *\n" + rules, edition)
    for number in range(10_000):
        assert not robots.allowed(f"http://example.com/{number * 3:05d}/x", "FooBot")


@in_every_edition
@pytest.mark.parametrize(
    ("pattern", "path"),
    [("/" + "*a" * 500 + "$", "/" + "a" * 5000 + "b"), ("/" + "a*" * 500 + "c", "/" + "a" * 5000),
     ("/" + "*" * 5000 + "x", "/" + "y" * 5000), ("/*" + "a" * 1000 + "b", "/" + "a" * 100_000),
     ("/" + "*ab" * 300 + "*c$", "/" + "ab" * 5000)],
    ids=range(5),
)  # fmt: skip
def test_wildcards_that_invite_backtracking(edition: str, pattern: str, path: str) -> None:
    """PAT-11: no pattern and no URL makes matching explode, and the verdict is still right."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n".encode(), edition)
    assert robots.allowed(f"http://example.com{path}", "FooBot")


@in_every_edition
def test_a_file_full_of_such_wildcards(edition: str) -> None:
    """PAT-11, SAF-02: thousands of them in one file."""
    rules = b"".join(b"Disallow: /%s*c%d\n" % (b"*a" * 20, number) for number in range(8000))
    robots = RobotsTxt.parse(b"User-agent: *\n" + rules, edition)
    assert robots.allowed("http://example.com/" + "a" * 1500, "FooBot")


HOSTILE = "Disallow: /\x1b[31mred\u202egnp\u2028\x07\x9b2J"


def test_text_of_a_file_is_escaped_for_a_terminal() -> None:
    """SAF-04: control characters, ANSI sequences, bidi marks and line ends are shown as escapes."""
    shown = safe(HOSTILE)
    assert shown.isprintable()
    assert "\\x1b[31m" in shown
    assert "\\u202e" in shown


@pytest.mark.parametrize("command", ["check", "explain", "lint"])
def test_command_line_prints_no_hostile_text(
    command: str, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """SAF-04: neither a verdict nor a finding steers the terminal it is shown on."""
    file = f"{tmp_path}/robots.txt"
    with open(file, "w", encoding="utf-8", newline="") as stream:
        stream.write(f"User-agent: *\n{HOSTILE}\nx\x1b[2J\u202e: y\n")
    urls = [] if command == "lint" else ["http://example.com/%1B[31mred", "http://a/\x1b]0;x\x07"]
    assert main([command, file, *urls]) in (0, 1)
    out, err = capsys.readouterr()
    assert out
    assert all(character.isprintable() or character == "\n" for character in out + err)
