"""A Scrapy without one of the private parts that this package uses: a crawl goes on, and says so.

The part is taken from this package alone: Scrapy still uses it.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scrapy import __version__ as scrapy_version

from scrapy_robotspec.plugin._compat import _SEND, PARTS
from tests.support.crawl import Running, crawl
from tests.support.responses import after, redirect, reply, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no"
SCHEDULERS: dict[str, dict[str, Any]] = {
    "own queue": {},
    "another queue": {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
}
#: What replaces download slots takes all of these away.
SLOTS = [
    "downloader.slots",
    "downloader.get_slot_key",
    "downloader.per_slot_settings",
    "downloader._get_slot",
]


#: Parts that another queue needs in another way.
OF_QUEUES = ["_slot.scheduler.next_request", "downloader.needs_backout", "downloader.active"]
CRAWLS = [
    *((hidden, "own queue") for hidden in ([], *([path] for path in PARTS), SLOTS)),
    *(([path], "another queue") for path in OF_QUEUES),
]


@pytest.mark.parametrize(("hidden", "scheduler"), CRAWLS, ids=str)
def test_a_crawl_without_a_part(server: Server, hidden: list[str], scheduler: str) -> None:
    """No traceback, no page that the rules forbid, each request ends once, one warning."""
    quick = server.site("127.0.0.2", RULES)
    slow = server.site("127.0.0.3", after(0.6, reply(RULES)))
    paced = server.site("127.0.0.4", after(0.2, reply(f"{RULES}\nCrawl-delay: 0.1")))
    down = server.site("127.0.0.5", reply("", 503))
    sites = (quick, slow, paced, down)
    urls = [site.url(f"/{word}/{n}") for n in range(4) for word in ("yes", "no") for site in sites]
    settings = {
        "HIDDEN_PARTS": hidden,
        "EXTENSIONS": {"tests.crawl.hiding.HidesParts": 0},
        "ROBOTSPEC_CRAWL_DELAY": True,
        "ROBOTSPEC_MAX_PARKED": 6,
        "ROBOTSPEC_HOLD_TIMEOUT": 1,
        **SCHEDULERS[scheduler],
    }
    result = crawl(urls, settings)
    assert result.exit_code == 0
    assert "Traceback" not in result.log
    assert result.ended_once(urls)
    asked = {path for site in sites for path in site.pages_asked}
    assert asked <= {f"/yes/{n}" for n in range(4)}
    assert down.pages_asked == []
    known = [path for path in hidden if path in PARTS]
    warnings = result.lines("WARNING: Scrapy")
    assert len(warnings) == bool(hidden)
    for path in known:
        assert f"without {path}, {PARTS[path]}" in warnings[0]
        assert f"Scrapy {scrapy_version} lacks" in warnings[0]
    is_stoppable = not {"downloader.needs_backout", "_slot.scheduler.next_request"} & set(hidden)
    if is_stoppable or scheduler == "own queue":
        assert sorted(quick.pages_asked) == sorted(slow.pages_asked) == sorted(asked)
    else:
        refused = [error["text"] for error in result.errors.values()]
        assert any(
            "ROBOTSPEC_MAX_PARKED" in text and f"no {hidden[0]}," in text for text in refused
        )


def test_pages_that_are_not_seen_leaving_do_not_count_as_not_sent(
    server: Server, tmp_path: Path
) -> None:
    """A redirect, too, though its middleware makes a request of it; the evidence agrees."""
    site = server.site("127.0.0.2", RULES, pages={"/moved": redirect("/yes")})
    settings = {
        "HIDDEN_PARTS": [f"downloader.handlers.{_SEND}"],
        "EXTENSIONS": {"tests.crawl.hiding.HidesParts": 0},
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
    }
    result = crawl([site.url("/moved"), site.url("/no")], settings)
    assert site.pages_asked == ["/moved", "/yes"]
    assert result.lines("2 let through, 1 refused (1 by a rule), 2 answered by a middleware")
    assert not result.lines("not sent")


@pytest.mark.parametrize("hidden", [[], [f"downloader.handlers.{_SEND}"]])
def test_a_robots_txt_that_left_unseen_is_not_said_to_be_held_back(
    server: Server, hidden: list[str]
) -> None:
    """The server was asked, and is silent."""
    site = server.site("127.0.0.2", silence())
    settings = {
        "HIDDEN_PARTS": hidden,
        "EXTENSIONS": {"tests.crawl.hiding.HidesParts": 0},
        "ROBOTSPEC_FETCH_TIMEOUT": 1,
        "ROBOTSPEC_RETRY_TIMES": 0,
    }
    result = crawl([site.url("/yes")], settings)
    assert [asked.path for asked in site.log] == ["/robots.txt"]
    assert result.lines("no answer within 1 s")
    assert not result.lines("not seen leaving")


@pytest.mark.parametrize("hidden", ["_slot.closing", "_slot.close"])
def test_a_crawl_without_a_part_that_closing_needs(
    server: Server, tmp_path: Path, hidden: str
) -> None:
    """Ctrl-C ends it all the same, and each request is refused or waits for another crawl."""
    down, quick = server.site("127.0.0.5", reply("", 503)), server.site("127.0.0.2", RULES)
    urls = [quick.url("/yes"), *(down.url(f"/yes/{n}") for n in range(4))]
    settings = {
        "HIDDEN_PARTS": [hidden],
        "EXTENSIONS": {"tests.crawl.hiding.HidesParts": 0},
        "JOBDIR": str(tmp_path),
        "ROBOTSPEC_HOLD_TIMEOUT": 3,
    }
    with Running(urls, settings) as running:
        running.wait_until(lambda: running.all_given and quick.pages_asked and down.robots_asked)
        running.send(signal.SIGINT)
        result = running.finish(20)
    assert result.exit_code == 0
    assert "Traceback" not in result.log
    assert down.pages_asked == []
    assert len(result.errors) == (hidden == "_slot.close"), "one waits on, or goes without a word"
    down.robots = reply("", 404)
    rest = [url for url in urls[1:] if url not in result.errors]
    again = crawl([], {"JOBDIR": str(tmp_path)})
    assert again.ended_once(rest)


@pytest.mark.parametrize("hidden", ["_slot.closing", "_slot.close"])
def test_close_spider_without_a_part_that_closing_needs(
    server: Server, tmp_path: Path, hidden: str
) -> None:
    """A request that waits ends with an error that says so, or waits for another crawl."""
    down, quick = server.site("127.0.0.5", reply("", 503)), server.site("127.0.0.2", RULES)
    urls = [*(down.url(f"/yes/{n}") for n in range(4)), quick.url("/yes")]
    settings = {"JOBDIR": str(tmp_path), "ROBOTSPEC_HOLD_TIMEOUT": 3}
    hiding = {"HIDDEN_PARTS": [hidden], "EXTENSIONS": {"tests.crawl.hiding.HidesParts": 0}}
    first = crawl(urls, {**settings, **hiding, "CLOSESPIDER_PAGECOUNT": 1})
    assert first.exit_code == 0
    assert "Traceback" not in first.log
    assert down.pages_asked == []
    known = {"IgnoreRequest": "the spider was closed before", "RobotsUnreachable": "503"}
    assert first.errors
    assert all(known[error["type"]] in error["text"] for error in first.errors.values())
    down.robots = reply("", 404)
    again = crawl([], settings)
    assert first.ends + again.ends == Counter(urls)
