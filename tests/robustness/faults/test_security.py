"""Promises of docs/security.md that no other test proves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.crawl import crawl
from tests.support.responses import raw, redirect, reply
from tests.support.server import Server

ROOT = Path(__file__).parents[3]
BODY = "User-agent: *\nDisallow: /no\n"
AT_ONCE = {"ROBOTSPEC_RETRY_TIMES": 0, "ROBOTSPEC_HOLD_TIMEOUT": 0}
#: Colour, title, clear the screen, the same in one byte, text from right to left.
HOSTILE = "\x1b[31m\x1b]0;title\x07\x1b[2J\x9b2J\u202e"


def test_no_text_of_a_stranger_steers_the_terminal(server: Server, tmp_path: Path) -> None:
    """SAF-04: neither in the log nor in the report: rules, status lines, headers, redirects."""
    data = HOSTILE.encode()
    line = b"HTTP/1.1 302 " + data + b"\r\nLocation: /" + data + b"\r\nContent-Length: 0\r\n\r\n"
    file = f"User-agent: *\nDisallow: /no{HOSTILE}\nDisallow: /no\nSitemap: {HOSTILE}\n"
    strange = "/no\x1b[31m\x9b\u202e"
    sites = [
        server.site("127.0.0.2", file),
        server.site("127.0.0.3", raw(line)),
        server.site("127.0.0.4", raw(b"HTTP/1.1 2" + data + b"\r\n\r\n")),
        server.site(
            "127.0.0.5", reply("", 503, [("Retry-After", HOSTILE.encode().decode("latin-1"))])
        ),
        server.site("127.0.0.6", reply(BODY, headers=[("Content-Encoding", "\x1b[31m")])),
    ]
    report = tmp_path / "report.jsonl"
    urls = [site.url(path) for site in sites for path in ("/no", strange)]
    result = crawl(urls, {**AT_ONCE, "ROBOTSPEC_REPORT": str(report)})
    assert sum(result.ends.values()) == len(urls)
    # Some client libraries write status lines down themselves, as they are.
    lines = [line for line in result.log.splitlines() if "[httpx" not in line]
    for text in ("\n".join(lines), report.read_text("utf-8")):
        assert text
        assert all(c.isprintable() or c in "\n\t" for c in text)


def test_an_unrequested_response_belongs_to_no_request(server: Server) -> None:
    """A second answer behind the first one is never taken for another request's."""
    missing = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
    first = server.site("127.0.0.2", raw(missing * 5))
    other = server.site("127.0.0.3", BODY)
    crawl([first.url("/x"), other.url("/yes"), other.url("/no")], AT_ONCE)
    assert sorted(other.pages_asked) == ["/yes"]


def test_file_found_by_a_redirect_says_nothing_of_where_it_was_found(server: Server) -> None:
    """FET-04: no server can put rules for another origin into the cache."""
    victim = server.site("127.0.0.3", BODY, pages={"/mine": reply("User-agent: *\nAllow: /no\n")})
    attacker = server.site("127.0.0.2", redirect(victim.url("/mine")))
    urls = [attacker.url("/no"), victim.url("/no"), victim.url("/yes")]
    crawl(urls, {"CONCURRENT_REQUESTS": 1})
    assert sorted(set(victim.pages_asked) - {"/mine"}) == ["/yes"]
    assert attacker.pages_asked == ["/no"]


def test_hashes_of_what_strangers_send_are_not_to_be_foreseen() -> None:
    """No table can be flooded: hosts and paths are hashed with a key that each process chooses."""
    code = "from scrapy_robotspec import Origin; print(hash(Origin.of('http://a.example/')))"
    hashes = {
        subprocess.check_output(
            [sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed}
        )
        for seed in "123"
    }
    assert len(hashes) == 3


def test_nothing_is_unpickled() -> None:
    """A store may hold anything, and nothing in it is ever run."""
    runs = re.compile(r"\b(pickle|marshal|shelve|eval|exec)\b\s*[.(]")
    found = {
        f"{path.stem}: {match[1]}"
        for path in (ROOT / "scrapy_robotspec").rglob("*.py")
        for match in runs.finditer(path.read_text("utf-8"))
    }
    assert found == set()
