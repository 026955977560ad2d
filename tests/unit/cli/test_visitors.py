"""``audit --robots``: an access log against the robots.txt of a site."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scrapy_robotspec.cli import visitors
from tests.support.command_line import RunCommand

LOG = """\
192.0.2.7 - - [31/Jan/2026:12:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 51 "-" "examplebot/1.0"
192.0.2.7 - - [31/Jan/2026:12:00:01 +0000] "GET /shop HTTP/1.1" 200 51 "-" "examplebot/1.0"
192.0.2.7 - - [31/Jan/2026:12:00:02 +0000] "GET /cart/1 HTTP/1.1" 200 51 "-" "examplebot/1.0"
192.0.2.7 - - [31/Jan/2026:12:00:03 +0000] "GET /cart/2 HTTP/1.1" 200 51 "-" "examplebot/1.0"
192.0.2.8 - - [31/Jan/2026:12:00:04 +0000] "GET /cart/ HTTP/1.1" 200 51 "-" "Mozilla/5.0 Firefox/9"
192.0.2.9 - - [31/Jan/2026:12:00:05 +0000] "GET /cart/ HTTP/1.1" 200 51 "-" "-"
"""
FILE = "User-agent: examplebot\nDisallow: /cart/\nCrawl-delay: 10\n\nUser-agent: *\nDisallow:\n"
DELAY = "10 s: 2 too early, shortest 1 s"
COUNTS = "crawlers: 1, disallowed: 2 by 1 of them"


@pytest.fixture
def folder(folder: Path) -> Path:
    """The folder of the commands, with a log."""
    (folder / "access.log").write_text(LOG)
    (folder / "site.txt").write_text(FILE)
    return folder


def test_the_report(run_command: RunCommand, folder: Path) -> None:
    result = run_command("audit", "access.log", "--robots", "site.txt")
    assert result.code == 1
    assert result.lines == [
        "crawler     requests  robots.txt         disallowed  group       crawl delay",
        f"examplebot  4         1, used up to 3 s  2           examplebot  {DELAY}",
        "",
        "requests  crawler     line  rule              first URL",
        "2         examplebot  2     Disallow: /cart/  /cart/1",
        "",
        f"requests: 6, browsers: 1, without a User-Agent: 1, {COUNTS}",
    ]
    assert "note: 6 requests read, 5 with a User-Agent; hosts in the log: none" in result.err


def test_json_tells_all(run_command: RunCommand, folder: Path) -> None:
    """Its schema is checked with each command."""
    result = run_command(
        "audit", "access.log", "--robots", "site.txt", "--origin", "https://shop.example", "--json"
    )
    values = json.loads(result.out)
    (crawler,) = values["crawlers"]
    assert (values["origin"], values["requests"], values["disallowed"]) == (
        "https://shop.example",
        6,
        2,
    )
    assert crawler["rules"] == [
        {
            "line": 2,
            "rule": "Disallow: /cart/",
            "requests": 2,
            "url": "https://shop.example/cart/1",
        }
    ]


def test_a_log_in_which_all_obey(run_command: RunCommand, folder: Path) -> None:
    (folder / "access.log").write_text("".join(LOG.splitlines(keepends=True)[:2]))
    assert run_command("audit", "access.log", "--robots", "site.txt").code == 0


def test_parts_of_a_log_in_the_wrong_order_are_named(run_command: RunCommand, folder: Path) -> None:
    """Such as by a shell, which names access.log before access.log.1."""
    older = LOG.replace("31/Jan", "30/Jan")
    for text, is_named in ((LOG + older, True), (older + LOG, False)):
        (folder / "access.log").write_text(text)
        result = run_command("audit", "access.log", "--robots", "site.txt")
        assert ("note: times go back by up to 24 h: " in result.err) is is_named


def with_hosts(*hosts: str) -> str:
    lines = LOG.splitlines(keepends=True)
    return "".join(f"{host} {line}" for host, line in zip(hosts, lines, strict=False))


def test_sites_are_not_mixed(run_command: RunCommand, folder: Path) -> None:
    hosts = ["shop.example:443", "shop.example:443", "shop.example:443", "other.example:443"]
    (folder / "access.log").write_text(with_hosts(*hosts))
    words = ("audit", "access.log", "--robots", "site.txt")
    result = run_command(*words)
    assert result.code == 2
    assert "several sites, such as https://shop.example and https://other.example" in result.err
    result = run_command(*words, "--origin", "https://shop.example", "--json")
    values = json.loads(result.out)
    assert (values["requests"], values["disallowed"], values["other_origins"]) == (3, 1, 1)
    assert "not for https://shop.example: 1 (https://other.example)" in result.err
    result = run_command(*words, "--origin", "https://third.example")
    assert result.code == 2
    assert "no request is for https://third.example: the log has https://shop.ex" in result.err


def test_whole_urls_of_clients_name_no_site(run_command: RunCommand, folder: Path) -> None:
    """As those who look for open proxies send them."""
    line = LOG.splitlines(keepends=True)[1]
    hosts = ("http://other.example", "http://third.example")
    probes = [line.replace("GET /", f"GET {host}/cart/") for host in hosts]
    words = ("audit", "access.log", "--robots", "site.txt", "--json")
    for text in (probes[0] + LOG, LOG + probes[0], "".join(probes) + LOG):
        (folder / "access.log").write_text(text)
        result = run_command(*words)
        values = json.loads(result.out)
        assert (values["origin"], values["disallowed"]) == (None, 2)
        assert values["other_origins"] == text.count("http://other") + text.count("http://third")
        assert "as clients may have sent their hosts; give --origin: " in result.err
    (folder / "access.log").write_text("".join(probes[:1] * 3))  # of a proxy, as all have a host
    assert json.loads(run_command(*words).out)["origin"] == "http://other.example"


def test_a_cut_line_is_no_request_of_the_crawler(run_command: RunCommand, folder: Path) -> None:
    """Its User-Agent is missing where others have one."""
    last = LOG.splitlines(keepends=True)[-1]
    cut = re.sub('"GET /[^ ]*', '"GET /cart/', last).split(' "-" ')[0]
    (folder / "access.log").write_text(LOG + cut)
    words = ("audit", "access.log", "--robots", "site.txt", "--token", "examplebot", "--json")
    values = json.loads(run_command(*words).out)
    assert (values["disallowed"], values["without_agent"]) == (2, 2)


def test_a_log_without_user_agents(run_command: RunCommand, folder: Path) -> None:
    (folder / "access.log").write_text(
        LOG.replace(' "-" "examplebot/1.0"', "").split("192.0.2.8")[0]
    )
    words = ("audit", "access.log", "--robots", "site.txt")
    result = run_command(*words)
    assert result.code == 2
    assert "has no User-Agents: log them (Combined log format), or give --token" in result.err
    result = run_command(*words, "--token", "examplebot", "--json")
    assert json.loads(result.out)["disallowed"] == 2


def test_a_log_whose_user_agents_have_another_name(run_command: RunCommand, folder: Path) -> None:
    """Nothing would be judged, as if the crawler obeyed."""
    values = {"time": 1769860800, "url": "/cart/", "ua": "examplebot/1.0"}
    (folder / "access.log").write_text(json.dumps(values))
    words = ("audit", "access.log", "--robots", "site.txt", "--token", "examplebot")
    for name, code in (("", 1), (",agent=ua", 1), (",agent=user_agent", 2)):
        result = run_command(*words, "--log-format", f"json:time=time,url=url{name}")
        assert result.code == code
    assert "has no User-Agents" in result.err
    assert "without agent=NAME" in result.err
    line = LOG.splitlines()[1].replace("GET /", "GET /cart/")
    (folder / "access.log").write_text(line.replace('"examplebot/1.0"', '"-"'))
    assert "--log-format common" in run_command(*words).err
    assert run_command(*words, "--log-format", "common").code == 1


def test_a_log_without_queries(run_command: RunCommand, folder: Path) -> None:
    """As Squid and some servers of Python write it: rules with a query never match."""
    (folder / "access.log").write_text(LOG.replace("/shop", "/shop?"))
    result = run_command("audit", "access.log", "--robots", "site.txt")
    assert "rules with a query cannot match" in result.err


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ((), "give --robots FILE, or --evidence DIR"),
        (("--robots", "site.txt", "--explain"), "are for --evidence"),
        (("--robots", "nowhere.txt"), "cannot read 'nowhere.txt'"),
        (("--robots", "site.txt", "--evidence", "x"), "give --robots FILE, or --evidence DIR"),
        (("--evidence", "x", "--html", "page.html"), "--html is for --robots"),
        (("--robots", "site.txt", "--html", "access.log"), "would overwrite an input"),
        (("--robots", "site.txt", "--log-format", "%h %t"), "--log-format: the format has no URL"),
        (("--robots", "site.txt", "--log-format", "squid"), "not as --log-format says"),
    ],
)
def test_misuse_names_the_remedy(
    run_command: RunCommand, folder: Path, options: tuple[str, ...], remedy: str
) -> None:
    result = run_command("audit", "access.log", *options)
    assert (result.code, result.out) == (2, "")
    assert remedy in result.err


def test_lines_without_a_host_are_of_the_site(run_command: RunCommand, folder: Path) -> None:
    """As of HTTP/1.0: behind the host that other lines have, or before it."""
    for hosts in (["-", "shop.example"], ["shop.example", "-"]):
        (folder / "access.log").write_text(with_hosts(*hosts, "-", "shop.example"))
        result = run_command("audit", "access.log", "--robots", "site.txt", "--json")
        values = json.loads(result.out)
        assert (values["origin"], values["requests"]) == ("https://shop.example", 4)
        assert [each["url"] for each in values["crawlers"][0]["rules"]] == ["/cart/1"]


def test_standard_input_is_read_for_one_thing(run_command: RunCommand, folder: Path) -> None:
    result = run_command("audit", "-", "--robots", "-")
    assert (result.code, result.out) == (2, "")
    assert "standard input (-) can be read for one thing only" in result.err


@pytest.mark.parametrize(
    ("agent", "note"),
    [
        ("ChatGPT-User/1.0", "may ignore robots.txt, according to its operator"),
        ("AdsBot-Google", "follows no group *, according to its operator"),
        ("otherbot/1.0", None),
    ],
)
def test_words_of_operators_are_noted(
    run_command: RunCommand, folder: Path, agent: str, note: str | None
) -> None:
    (folder / "access.log").write_text(LOG.splitlines()[2].replace("examplebot/1.0", agent))
    (folder / "site.txt").write_text("User-agent: *\nDisallow: /cart/\n")
    result = run_command("audit", "access.log", "--robots", "site.txt", "--json")
    (crawler,) = json.loads(result.out)["crawlers"]
    assert (crawler["note"], crawler["disallowed"]) == (note, 1)
    assert (f"note: {crawler['name']} {note}" in result.err) == (note is not None)


def test_the_page_says_what_the_text_says(run_command: RunCommand, folder: Path) -> None:
    """All that is in the tables of the text, and the file with the broken line."""
    words = ("audit", "access.log", "--robots", "site.txt")
    result = run_command(*words, "--html", "page.html")
    assert (result.code, "page written: page.html" in result.err) == (1, True)
    page = (folder / "page.html").read_text("utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))
    assert "1 crawler of 1 broke the rules, with 2 of 4 requests" in text
    assert "A User-Agent is a claim" in text
    assert f"4 2 examplebot examplebot 1, used up to 3 s {DELAY}" in text
    assert "2 Disallow: /cart/ line 2 examplebot /cart/1" in text
    assert "broken by examplebot" in text
    assert "of browsers, not judged" in text
    assert "6 requests read, 5 with a User-Agent; hosts in the log: none" in text
    assert run_command(*words, "--html", "-").out.startswith("<!doctype html>")


@pytest.mark.parametrize(("lines", "is_judged"), [((), False), ((4,), False), ((1,), True)])
def test_a_page_where_nothing_was_broken(
    run_command: RunCommand, folder: Path, lines: tuple[int, ...], is_judged: bool
) -> None:
    """No requests, those of a browser, and one that is allowed."""
    (folder / "access.log").write_text("\n".join(LOG.splitlines()[each] for each in lines))
    page = run_command("audit", "access.log", "--robots", "site.txt", "--html", "-").out
    assert "Broken rules" not in page
    assert ("No requests by crawlers" in page) is not is_judged


def test_hostile_text_is_escaped(run_command: RunCommand, folder: Path) -> None:
    """SAF-04: names, URLs and rules come from outside."""
    hostile = "<script>x</script>"
    line = LOG.splitlines()[2].replace("examplebot/1.0", f"ab{hostile}/1.0")
    (folder / "access.log").write_text(f"{line.replace('/cart/1', f'/cart/{hostile}')}\n")
    (folder / "site.txt").write_text(f"User-agent: *\nDisallow: /cart/{hostile}\n")
    result = run_command("audit", "access.log", "--robots", "site.txt", "--html", "page.html")
    assert result.code == 1
    assert "<script" not in (folder / "page.html").read_text("utf-8")


def test_a_page_is_of_bounded_size(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = LOG.splitlines()[2]
    names = [f"bot{chr(97 + number)}" for number in range(20)]
    (folder / "access.log").write_text(
        "\n".join(line.replace("examplebot", each) for each in names)
    )
    (folder / "site.txt").write_text("User-agent: *\nDisallow: /cart/\n")
    monkeypatch.setattr(visitors, "SHOWN", 5)
    run_command("audit", "access.log", "--robots", "site.txt", "--html", "page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "and 15 more crawlers" in page
    assert "and 15 more rows" in page
    assert "bote" in page
    assert "botf" not in page
