"""The end of a crawl: nothing is lost while the plugin closes, and stats are final in time."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import MODES, Result, crawl
from tests.support.responses import silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
DRY_RUN = {"ROBOTSPEC_DRY_RUN": True}


def dumped(result: Result) -> dict[str, int]:
    """Our stats as Scrapy's log ends with them."""
    text = result.log.partition("Dumping Scrapy stats:\n")[2]
    ours = re.findall(r"'(robots(?:txt|pec)/[^']+)': (\d+)", text)
    return {name: int(number) for name, number in ours}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [{}, DRY_RUN], ids=["", "dry run"])
def test_requests_given_while_the_crawl_closes_are_in_the_jobdir(
    server: Server, tmp_path: Path, mode: str, more: dict[str, Any]
) -> None:
    """A spider's ``start()`` goes on while handlers of ``spider_closed`` wait, so ours wait later.

    The scheduler is closed by then. The report takes a second to be written.
    """
    sites = [server.site(f"127.0.0.{n}", RULES) for n in range(2, 5)]
    urls = [site.url(f"/{path}{n}") for n in range(20) for path in ("no", "yes") for site in sites]
    settings = {
        **more,
        "JOBDIR": str(tmp_path / "job"),
        "EXTENSIONS": {
            "tests.support.event_log.Notes": 0,
            "tests.crawl.middlewares.SlowDisk": 1,
            "tests.crawl.middlewares.CountsTurns": 2,
        },
        "ROBOTSPEC_CACHE": f"sqlite:///{tmp_path / 'store.db'}",
        "ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence"),
        "ROBOTSPEC_REPORT": str(tmp_path / "report.jsonl"),
    }
    first = crawl(urls, {**settings, "CLOSESPIDER_PAGECOUNT": 5}, mode=mode, spider="trickling")
    second = crawl(urls, settings, mode=mode, spider="trickling")
    assert 0 < len(first.ends) < len(urls)
    assert first.ends + second.ends == Counter(urls)
    for result in (first, second):
        assert result.of("turns")[0]["number"] < 30
        assert result.lines("the report of this crawl is")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shared", [False, True])
def test_stats_are_final_before_scrapy_closes_them(
    server: Server, tmp_path: Path, mode: str, shared: bool
) -> None:
    """Also while a spider still asks about a site that does not answer."""
    site = server.site("127.0.0.2", RULES)
    silent = [server.site(f"127.0.1.{n}", silence()).url("/x") for n in range(1, 4)]
    store = {"ROBOTSPEC_CACHE": f"sqlite:///{tmp_path / 'store.db'}"} if shared else {}
    result = crawl(
        [site.url(f"/{n}") for n in range(40)],
        {**store, "CLOSESPIDER_PAGECOUNT": 5, "ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence")},
        mode=mode,
        spider="trickling",
        more={"asked": silent},
    )
    stats = dumped(result)
    assert stats["robotspec/waiting_max"] > len(silent)
    assert (stats["robotspec/waiting"], stats["robotspec/pending"]) == (0, 0)
    assert stats == {key: result.stats[key] for key in result.stats if key.startswith("robots")}
    questions = result.of("question")
    assert questions
    assert all("the spider was closed before" in each["text"] for each in questions)
