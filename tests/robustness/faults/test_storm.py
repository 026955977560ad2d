"""Everything that can go wrong, all at once, in one crawl for each way to download.

Some of it costs attempts, some of it time; none of it may cost a request, a page that is
disallowed, the process or its memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from scrapy import version_info

from tests.support import tls
from tests.support.crawl import WAYS, Result, crawl
from tests.support.responses import redirect, reply
from tests.support.server import Server, Site

from .bad_servers import BODY, GUARDED, MISSING

PATHS = ("/yes", "/no", "/no/deeper")
RETRIES = 2
#: The handler without a reactor of these releases looks into a Location that it does not follow.
READS_LOCATIONS = version_info < (2, 18)
SETTINGS = {
    "ROBOTSPEC_FETCH_TIMEOUT": 3.0,
    "ROBOTSPEC_HOLD_TIMEOUT": 1.0,
    "ROBOTSPEC_RETRY_TIMES": RETRIES,
    "ROBOTSPEC_RETRY_DELAY": 0.4,
    "ROBOTSPEC_RETRY_MAX_DELAY": 0.8,
    "CONCURRENT_REQUESTS": 50,
    "DOWNLOAD_TIMEOUT": 5,
    "RETRY_ENABLED": False,
}


@dataclass
class Storm:
    """The sites by what they do wrong, all URLs, and what came of them."""

    guarded: dict[str, Site]
    missing: dict[str, Site]
    sound: list[Site]
    urls: list[str]
    result: Result
    server: Server


def of_other_protocols(server: Server) -> dict[str, Site]:
    """HTTP where TLS is meant, TLS where HTTP is, a name that the certificate does not bear."""
    wrong = {
        "HTTPS to a server of HTTP": server.site("127.3.0.1", BODY),
        "HTTP to a server of HTTPS": server.site("127.3.0.2", BODY, port=server.tls_port),
        "a certificate of another": server.site("127.3.0.3", BODY, port=server.tls_port),
    }
    wrong["HTTPS to a server of HTTP"].scheme = "https"
    wrong["HTTP to a server of HTTPS"].scheme = "http"
    return wrong


def loops(server: Server) -> dict[str, Site]:
    """Round and round over three hosts, and a chain that never ends."""
    urls = [f"http://127.4.0.{n}:{server.port}/robots.txt" for n in (1, 2, 3)]
    for n in (1, 2, 3):
        server.site(f"127.4.0.{n}", redirect(urls[n % 3]))
    growing = {f"/{'x' * n}": redirect(f"/{'x' * (n + 1)}") for n in range(1, 30)}
    return {
        "a loop over hosts": server.site("127.4.0.1", redirect(urls[1])),
        "a chain without end": server.site("127.4.1.1", redirect("/x"), pages=growing),
        "a Location of 5 KB": server.site(
            "127.4.1.2", redirect("/" + "y" * 5000), page=reply("", 404)
        ),
    }


@contextmanager
def storm_of(mode: str) -> Iterator[Storm]:
    """One crawl; its laws are tested together, so that no other process repeats it."""
    with Server(tls.context()) as server:
        guarded = {
            name: server.site(f"127.1.0.{n}", answer)
            for n, (name, answer) in enumerate(GUARDED.items(), 1)
        } | of_other_protocols(server)
        missing = {
            name: server.site(f"127.2.0.{n}", answer)
            for n, (name, answer) in enumerate(MISSING.items(), 1)
        } | loops(server)
        sound = [server.site(f"127.5.0.{n}", BODY) for n in range(1, 6)]
        sites = [*guarded.values(), *missing.values(), *sound]
        urls = [site.url(path) for site in sites for path in PATHS]
        result = crawl(urls, SETTINGS, mode=mode, seconds=600)
        yield Storm(guarded, missing, sound, urls, result, server)


def law_every_request_ended_once(storm: Storm) -> None:
    """In a response or in its errback, and the process ended too."""
    assert storm.result.ended_once(storm.urls)
    assert storm.result.exit_code == 0


def law_nothing_disallowed_was_asked_for(storm: Storm) -> None:
    """FET-14: rules that cannot be read allow nothing."""
    asked = {name: site.pages_asked for name, site in storm.guarded.items()}
    assert {name: paths for name, paths in asked.items() if set(paths) - {"/yes"}} == {}


def law_sound_origins_were_not_disturbed(storm: Storm) -> None:
    assert [sorted(site.pages_asked) for site in storm.sound] == [["/yes"]] * 5
    assert max(len(site.robots_asked) for site in storm.sound) <= 1 + RETRIES


def law_redirects_to_nowhere_count_as_404(storm: Storm) -> None:
    """FET-03, FET-07, FET-18: loops and foreign schemes too; one more chain where one was late."""
    for name, site in storm.missing.items():
        if READS_LOCATIONS and storm.result.errors.keys() >= {site.url(path) for path in PATHS}:
            continue  # it takes a Location that it cannot read for a failure of its own
        assert set(PATHS) <= set(site.pages_asked), name
        # A redirect to the same URL is followed five times (FET-03).
        assert len(site.robots_asked) <= 6 * (1 + RETRIES), name


def law_robots_txt_is_not_asked_for_more_often_than_allowed(storm: Storm) -> None:
    """FET-10: the first attempt, those of the hold or of the retries, and probes between."""
    most = 2 + SETTINGS["ROBOTSPEC_HOLD_TIMEOUT"] / 0.2 + storm.result.wall / 0.8
    asked = {name: len(site.robots_asked) for name, site in storm.guarded.items()}
    assert {name: times for name, times in asked.items() if times > most} == {}


def law_memory_stays_bounded(storm: Storm) -> None:
    """Bombs of 40 MB, heads and files without end."""
    assert storm.result.memory < 200_000_000


def law_log_is_quiet_and_clean(storm: Storm) -> None:
    """SAF-04: no traceback for a server that is merely broken, no text of it that steers."""
    assert "Traceback" not in storm.result.log
    ours = storm.result.lines("[scrapy_robotspec")
    assert ours
    assert all(line.isprintable() for line in ours)


LAWS = (
    law_every_request_ended_once,
    law_nothing_disallowed_was_asked_for,
    law_sound_origins_were_not_disturbed,
    law_redirects_to_nowhere_count_as_404,
    law_robots_txt_is_not_asked_for_more_often_than_allowed,
    law_memory_stays_bounded,
    law_log_is_quiet_and_clean,
)


@pytest.mark.parametrize("mode", WAYS)
def test_no_law_is_broken_by_a_storm(mode: str) -> None:
    with storm_of(mode) as storm:
        for law in LAWS:
            law(storm)
