"""Random crawls, audited by the log of their server: an honest crawl is never accused.

``ROBOTSPEC_PROFILE=long`` makes fifty of them.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.evidence.replay import replay
from tests.support.crawl import MODES, Running
from tests.support.evidence import audited
from tests.support.responses import Answer, after, in_turn, redirect, reply, reset, silence
from tests.support.server import Server, Site

#: Seconds after which a crawl is interrupted or killed, if it runs on.
LONGEST = 6.0
PATHS = ("/", "/a", "/b", "/x", "/x/one", "/moved", "/slow", "/lost")


def rules(chosen: random.Random) -> Answer:
    """A robots.txt of random rules and lifetime."""
    paths = chosen.sample(PATHS, chosen.randrange(4))
    text = "User-agent: *\nDisallow:\n" + "".join(f"Disallow: {path}\n" for path in paths)
    return reply(text, headers=[("Cache-Control", f"max-age={chosen.choice((0, 1, 2, 60))}")])


def robots(chosen: random.Random, hosts: list[str]) -> Answer:
    """One answer after another for a robots.txt."""
    host = chosen.choice(hosts)
    kinds = (
        lambda: rules(chosen),
        lambda: rules(chosen),
        lambda: after(0.5, rules(chosen)),
        lambda: redirect("/x/one"),
        lambda: redirect(f"{host}/x/two"),
        lambda: redirect(f"{host}/slow"),
        lambda: reply("", chosen.choice((404, 403, 429, 503))),
        reset,
        silence,
    )
    return in_turn(*(chosen.choice(kinds)() for _ in range(chosen.randrange(1, 5))))


def sites(chosen: random.Random, server: Server) -> list[Site]:
    """A few sites, whose pages redirect to each other."""
    hosts = [f"http://127.0.0.{n}:{server.port}" for n in range(2, 2 + chosen.randrange(2, 6))]
    found = []
    for host in hosts:
        pages = {
            "/x/one": chosen.choice((rules(chosen), redirect("/x/two"), silence())),
            "/x/two": rules(chosen),
            "/moved": redirect(chosen.choice(hosts) + chosen.choice(PATHS)),
            "/slow": after(1.5, reply("")),
            "/lost": reset(),
        }
        page = chosen.choice((reply("page"), reply("page"), reply("", 503)))
        name = host.removeprefix("http://").partition(":")[0]
        found.append(server.site(name, robots(chosen, hosts), pages=pages, page=page))
    return found


def settings(chosen: random.Random, folder: Path) -> dict[str, Any]:
    """Settings that make much happen in little time."""
    cache = chosen.choice(("memory://", f"sqlite:///{folder}/robots.db"))
    return {
        "ROBOTSPEC_EVIDENCE": str(folder / "evidence"),
        "ROBOTSPEC_CACHE": cache,
        "ROBOTSPEC_CACHE_TTL": chosen.choice((0.5, 3.0)),
        "ROBOTSPEC_CACHE_MIN_TTL": 0.3,
        "ROBOTSPEC_PROBE_SERVER_ERRORS": chosen.random() < 0.5,
        "ROBOTSPEC_FETCH_TIMEOUT": chosen.choice((1.0, 60.0)),
        "ROBOTSPEC_HOLD_TIMEOUT": chosen.choice((1.0, 60.0)),
        "ROBOTSPEC_RETRY_DELAY": 0.2,
        "ROBOTSPEC_RETRY_MAX_DELAY": 0.4,
        "ROBOTSPEC_UNREACHABLE": chosen.choice(("wait", "wait", "allow")),
        "ROBOTSPEC_EDITION": {"base": "google-2019", "stale_after": chosen.choice((0.5, 86400))},
        "DOWNLOAD_DELAY": chosen.choice((0, 0.05, 0.3)),
        "CONCURRENT_REQUESTS": chosen.choice((4, 100)),
        "RETRY_TIMES": 1,
        "LOG_LEVEL": "INFO",
    }


def crawl_somehow(chosen: random.Random, urls: list[str], given: dict[str, Any]) -> None:
    """Crawl to the end, or until the crawl is interrupted or killed."""
    with Running(urls, given, mode=chosen.choice(list(MODES))) as running:
        running.wait_until(lambda: running.all_given)
        time.sleep(chosen.uniform(0.1, LONGEST))
        running.send(chosen.choice((signal.SIGINT, signal.SIGKILL)))
        running.finish(30)


@pytest.mark.parametrize("seed", range(50 if os.environ.get("ROBOTSPEC_PROFILE") == "long" else 2))
def test_an_honest_crawl_is_not_accused(tmp_path: Path, seed: int) -> None:
    """Redirects, hops, probes, failures, changing rules, several runs, interrupts and kills."""
    chosen = random.Random(seed)
    with Server() as server:
        found = sites(chosen, server)
        urls = [site.url(f"{path}?{n}") for n in range(8) for path in PATHS for site in found]
        given = settings(chosen, tmp_path)
        for _ in range(chosen.randrange(1, 3)):
            crawl_somehow(chosen, chosen.sample(urls, 60), given)
        asked = [(each.at, site.url(each.path)) for site in found for each in site.log]
    result = replay(tmp_path / "evidence")
    assert result.problems == []
    assert result.decisions > 0
    audit = audited(tmp_path / "evidence", asked)
    audit.look_up()
    assert audit.accused == []
    assert audit.requests == len(asked) > 0
