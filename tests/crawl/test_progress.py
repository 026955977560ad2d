"""Log lines while a crawl waits for a robots.txt, and after it was stopped."""

from __future__ import annotations

import re
import signal

from tests.support.crawl import Running, crawl
from tests.support.responses import after, reply, silence
from tests.support.server import Server

BODY = "User-agent: *\nDisallow: /no\n"


def test_a_hung_robots_txt_is_named_and_so_is_its_end(server: Server) -> None:
    site = server.site("127.0.0.2", after(3.0, reply(BODY)))
    settings = {"ROBOTSPEC_PROGRESS_AFTER": 1, "LOGSTATS_INTERVAL": 1.5, "LOG_LEVEL": "INFO"}
    result = crawl([site.url(f"/{n}") for n in range(10)], settings)
    assert len(result.lines("robots.txt of http://127.0.0.2", "has not answered for 1 s")) == 1
    assert result.lines("robots.txt: 1 origin pending", "(127.0.0.2)")
    assert len(result.lines("has answered", "released")) == 1
    assert result.stats["robotspec/pending"] == 0
    assert result.stats["robotspec/waiting"] == 0
    assert result.stats["robotspec/waiting_max"] >= 9


def test_the_summary_after_ctrl_c_names_what_was_pending(server: Server) -> None:
    site = server.site("127.0.0.2", silence())
    with Running([site.url(f"/{n}") for n in range(5)]) as running:
        running.wait_until(lambda: site.robots_asked)
        running.send(signal.SIGINT)
        result = running.finish(20)
    assert re.search(r"origins +1 \(1 without an answer so far\)", result.log)
    assert re.search(r"still pending +[\d.]+ m?s  http://127.0.0.2", result.log)
