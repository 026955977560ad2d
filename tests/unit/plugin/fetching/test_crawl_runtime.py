"""CrawlRuntime: which robots.txt requests a fetch sends, and what becomes of their outcomes."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import DNSLookupError

from scrapy_robotspec import signals
from scrapy_robotspec.access.exchange import MISPLACED
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.access.reasons import IMPOSSIBLE_HOST
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.crawl_runtime import open_lookup
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.store.memory import MemoryStore
from tests.support.records import origin, plain_record
from tests.unit.lookup.fakes import LookupHarness
from tests.unit.plugin.fetching.downloading import (
    NOW,
    PAGE,
    RULES,
    URL,
    A,
    Archive,
    Downloading,
    by_proxy,
    by_url,
    fail,
    respond,
    run,
    turns,
)

B = Origin("http", "b.example", 80)
MOVED = "http://b.example/robots.txt"
REFUSED = ConnectionRefusedError(111, "refused")
P1, P2, P3 = (f"http://p{number}" for number in (1, 2, 3))


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Downloading:
    return Downloading(monkeypatch)


# --- one attempt


def test_a_result_has_the_file_its_headers_and_the_crawler(crawl: Downloading) -> None:
    crawl.site = respond(Cache_Control="max-age=60")
    result = crawl.fetched()
    assert (result.status, result.body, result.agent) == (200, RULES, "-")
    assert result.headers == {"cache-control": "max-age=60"}
    assert (result.local, result.way_varies, result.hops) == (False, False, ())
    assert crawl.urls == [URL]


def test_a_redirect_is_followed_and_counted(crawl: Downloading) -> None:
    """FET-03, FET-04."""
    crawl.site = by_url({URL: respond(301, Location=MOVED, Vary="User-Agent"), MOVED: respond()})
    result = crawl.fetched()
    assert (result.status, result.body, result.way_varies) == (200, RULES, True)
    assert [hop.target for hop in result.hops] == [MOVED]
    assert crawl.urls == [URL, MOVED]
    assert crawl.stat("robotspec/redirect_hops") == 1


@pytest.mark.parametrize(
    ("body", "truncated"), [(RULES, None), (RULES + b"#" * 600_000, 1)], ids=["short", "long"]
)
def test_a_fetch_is_counted_as_scrapy_counts_it(
    crawl: Downloading, body: bytes, truncated: int | None
) -> None:
    crawl.site = respond(body=body)
    crawl.fetched()
    assert crawl.stat("robotstxt/request_count") == 1
    assert crawl.stat("robotstxt/response_count") == 1
    assert crawl.stat("robotstxt/response_status_count/200") == 1
    assert crawl.stat("robotspec/redirect_hops") is None
    assert crawl.stat("robotspec/truncated") == truncated


def test_a_failure_counts_as_an_exception_and_no_response(crawl: Downloading) -> None:
    crawl.site = fail(REFUSED)
    result = crawl.fetched()
    assert (result.status, result.error, result.local) == (None, "connection refused", False)
    assert crawl.stat("robotstxt/request_count") == 1
    assert crawl.stat("robotstxt/response_count") is None
    assert crawl.stat(f"robotstxt/exception_count/{type(REFUSED)}") == 1


def test_a_request_that_another_middleware_drops_is_no_exception(crawl: Downloading) -> None:
    crawl.site = fail(IgnoreRequest("no"))
    result = crawl.fetched()
    assert result.local
    assert not [name for name in crawl.crawler.stats.get_stats() if "exception" in name]


@pytest.mark.parametrize(
    ("is_sending", "is_seen", "words"),
    [(True, True, ""), (False, True, ", not seen leaving"), (False, False, "")],
)
def test_silence_is_a_timeout(
    crawl: Downloading, is_sending: bool, is_seen: bool, words: str
) -> None:
    """FET-14: it says whether the request has left, if this Scrapy shows that."""
    crawl.site, crawl.is_sending = by_url({}), is_sending
    if not is_seen:
        setattr(crawl.engine.downloader.handlers, _compat._SEND, None)
    result = crawl.fetched(silent=31.0)
    assert (result.status, result.error) == (None, f"no answer within 30 s{words}")
    assert crawl.stat("robotstxt/exception_count/timeout") == 1


@pytest.mark.parametrize("host", ["a..example", "a" * 64 + ".example"])
def test_a_host_that_no_request_can_reach_fails_for_good(crawl: Downloading, host: str) -> None:
    """LOC-03: other machines fail too, also where no name was resolved so far."""
    crawl.site = fail(DNSLookupError("no address"))
    possible = crawl.fetched()
    assert (possible.error, possible.local) == ("host name not found", True)
    impossible = crawl.fetched(origin=Origin("http", host, 80))
    assert (impossible.error, impossible.local) == (IMPOSSIBLE_HOST, False)


def test_a_name_that_others_have_while_this_one_has_not_is_the_sites(crawl: Downloading) -> None:
    """FET-14: names are resolved here, as the response of another host shows."""
    crawl.fetched()
    crawl.site = fail(DNSLookupError("no address"))
    assert not crawl.fetched(origin=B).local


# --- product names


def test_the_product_name_is_that_of_the_page_or_the_projects(crawl: Downloading) -> None:
    """CAC-04."""
    assert crawl.runtime.agent(Request(PAGE)) == "examplebot"
    assert crawl.runtime.agent(Request(PAGE, headers={"User-Agent": "Other/2.0"})) == "other"


def test_a_robots_txt_has_the_user_agent_of_its_page(crawl: Downloading) -> None:
    result = crawl.fetched(headers={"User-Agent": "Other/2.0"})
    assert result.agent == "other"
    assert [request.headers["User-Agent"] for request in crawl.sent] == [b"Other/2.0"]


@pytest.mark.parametrize(
    ("failed", "control", "use_idle"),
    [(None, None, True), (503, None, True), (304, b"no-cache", True), (421, None, False)],
)
def test_what_a_retry_does_otherwise(
    crawl: Downloading,
    monkeypatch: pytest.MonkeyPatch,
    failed: int | None,
    control: bytes | None,
    use_idle: bool,
) -> None:
    """FET-07: no cache answers after 304, no connection that is open after 421."""
    seen: list[bool] = []

    def watched(*, use_idle: bool) -> AbstractContextManager[None]:
        seen.append(use_idle)
        return nullcontext()

    monkeypatch.setattr(crawl.runtime.downloads, "watched", watched)
    crawl.fetched(failed=failed)
    assert crawl.sent[0].headers.get("Cache-Control") == control
    assert seen == [use_idle]


# --- misplaced server errors


PROBE = {"ROBOTSPEC_PROBE_SERVER_ERRORS": True}


def misplaced(status: int = 503, missing: Any = None, **headers: str) -> Any:
    """A site whose home page answers, with *status* for its robots.txt."""
    sites = {URL: respond(status, b"", **headers), "http://a.example/": respond()}
    return lambda request: sites.get(request.url, missing or respond(500))(request)


@pytest.mark.parametrize(
    ("settings", "site", "requests", "error", "exceptions"),
    [
        ({}, misplaced(), 1, None, 0),
        (PROBE, misplaced(), 3, MISPLACED, 0),
        (PROBE, misplaced(404), 1, None, 0),
        (PROBE, misplaced(Retry_After="60"), 1, None, 0),
        (PROBE, misplaced(missing=respond(404)), 2, None, 0),
        (PROBE, misplaced(missing=fail(REFUSED)), 2, None, 1),
    ],
    ids=["not asked for", "misplaced", "404", "pause", "the site's", "no answer to a probe"],
)
def test_server_errors_for_what_is_missing_are_found(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    site: Any,
    requests: int,
    error: str | None,
    exceptions: int,
) -> None:
    """FET-15: otherwise the status stands, whatever becomes of the probes."""
    crawl = Downloading(monkeypatch, **settings)
    crawl.site = site
    result = crawl.fetched()
    assert len(crawl.sent) == requests
    assert result.redirect_error == error
    assert result.status == site(Request(URL)).status
    counted = [name for name in crawl.crawler.stats.get_stats() if "exception" in name]
    assert len(counted) == exceptions


# --- routes and proxies


@pytest.mark.parametrize(
    ("status", "proxy", "proven", "local"),
    [
        (200, P1, False, False),
        (404, P1, False, False),
        (499, P1, False, False),
        (500, P1, False, True),
        (503, P1, False, True),
        (503, P1, True, False),
        (503, None, False, False),
        (407, P1, True, True),
        (407, None, False, True),
        (511, None, False, True),
    ],
)
def test_a_response_may_be_the_proxys(
    crawl: Downloading, status: int, proxy: str | None, proven: bool, local: bool
) -> None:
    """FET-08: server errors of a proxy that has brought nothing say nothing about the site."""
    if proven:
        crawl.routes.worked(P1, B, NOW)
    crawl.site = respond(status)
    assert crawl.fetched({"proxy": proxy} if proxy else {}).local is local


@pytest.mark.parametrize(("status", "proven"), [(200, True), (404, True), (500, False)])
def test_a_proxy_is_proven_by_a_response_of_a_site(
    crawl: Downloading, status: int, proven: bool
) -> None:
    crawl.site = respond(status)
    crawl.fetched({"proxy": P1})
    assert crawl.routes.is_proven(P1, NOW) is proven


@pytest.mark.parametrize(
    ("proxy", "proven", "local", "words"),
    [
        (P1, False, True, "connection refused through a proxy"),
        (P1, True, False, "connection refused"),
        ("", False, False, "connection refused"),
        (None, False, False, "connection refused"),
    ],
)
def test_a_failure_may_be_the_proxys(
    crawl: Downloading, proxy: str | None, proven: bool, local: bool, words: str
) -> None:
    """FET-14: that of a proxy which has not worked reaches no other process."""
    if proven:
        crawl.routes.worked(P1, B, NOW)
    crawl.site = fail(REFUSED)
    result = crawl.fetched({"proxy": proxy})
    assert (result.local, result.error) == (local, words)


@pytest.mark.parametrize(
    ("site", "failed"),
    [
        (respond(), False),
        (respond(404), False),
        (respond(499), False),
        (respond(500), True),
        (respond(407), True),
        (fail(REFUSED), True),
    ],
    ids=["200", "404", "499", "500", "407", "refused"],
)
def test_a_route_without_a_usable_response_comes_last_next_time(
    crawl: Downloading, site: Any, failed: bool
) -> None:
    crawl.robots.live.use(A)
    crawl.routes.see(A, Request(PAGE, meta={"proxy": P1}))
    crawl.site = site
    crawl.fetched()
    assert crawl.routes.has_failed(A) is failed


def waits_through(crawl: Downloading, *proxies: str) -> None:
    """Requests that wait for the robots.txt, each through one of *proxies*."""
    crawl.robots.live.use(A)
    for proxy in proxies:
        crawl.routes.see(A, Request(PAGE, meta={"proxy": proxy}))


def test_another_route_is_tried_where_one_fails_on_our_side(crawl: Downloading) -> None:
    waits_through(crawl, P2)
    crawl.site = by_proxy({P1: fail(REFUSED), P2: respond()})
    assert crawl.fetched({"proxy": P1}).status == 200
    assert crawl.proxies == [P1, P2]


def test_a_dead_proxy_with_a_password_is_tried_once(crawl: Downloading) -> None:
    """Scrapy removes user name and password from the URL; the proxy is the same one."""
    waits_through(crawl, "http://user:word@p2:8080")
    scrapys_own = HttpProxyMiddleware()

    def site(request: Request) -> Response:
        scrapys_own.process_request(request)
        raise REFUSED

    crawl.site = site
    assert crawl.fetched({"proxy": "http://user:word@p1:8080"}).local
    assert crawl.proxies == ["http://p1:8080", "http://p2:8080"]


@pytest.mark.parametrize(("chosen", "attempts"), [("aabc", 2), ("abbc", 3), ("abcd", 4)])
def test_a_route_is_tried_again_while_a_middleware_chooses_new_proxies(
    crawl: Downloading, chosen: str, attempts: int
) -> None:
    coming = iter(chosen)

    def site(request: Request) -> Response:
        request.meta["proxy"] = f"http://{next(coming)}"
        raise REFUSED

    crawl.site = site
    assert crawl.fetched({"proxy": P1}).local
    assert len(crawl.sent) == attempts


@pytest.mark.parametrize(
    ("proxy", "site", "attempts"),
    [
        (P1, respond(503), 1),
        (P1, respond(407), 2),
        (P1, fail(REFUSED), 2),
        (None, fail(REFUSED), 1),
        (None, fail(IgnoreRequest("no")), 2),
        (None, respond(503), 1),
    ],
    ids=["503 by proxy", "407", "proxy refuses", "site refuses", "dropped here", "503"],
)
def test_what_may_be_the_sites_is_not_repeated_at_once(
    crawl: Downloading, proxy: str | None, site: Any, attempts: int
) -> None:
    """After a server error, also a proxy's, the site may want a pause."""
    waits_through(crawl, P2)
    crawl.site = site
    crawl.fetched({"proxy": proxy} if proxy else {})
    assert len(crawl.sent) == attempts


def test_four_routes_are_tried_at_most(crawl: Downloading) -> None:
    waits_through(crawl, *(f"http://w{number}" for number in range(6)))
    crawl.site = fail(REFUSED)
    assert crawl.fetched({"proxy": P1}).local
    assert len(set(crawl.proxies)) == len(crawl.proxies) == 4


def test_the_first_request_takes_a_turn_of_the_download_slot_and_a_retry_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = Downloading(monkeypatch, DOWNLOAD_DELAY=5)
    crawl.robots.live.use(A)
    first, second = (crawl.runtime.download_delay(A, Request(PAGE)) for _ in range(2))
    assert first == 0.0
    assert second > 2.0
    crawl.site = respond(503)
    crawl.fetched()
    assert crawl.runtime.download_delay(A, Request(PAGE)) == 0.0


# --- the archive, cancelling


@pytest.fixture
def archive(crawl: Downloading) -> Archive:
    kept = Archive()
    crawl.runtime.observer = cast("Any", kept)
    return kept


def test_each_response_is_archived(crawl: Downloading, archive: Archive) -> None:
    crawl.site = by_url({URL: respond(301, Location=MOVED), MOVED: respond()})
    assert crawl.fetched().archive is archive
    assert (archive.responses, archive.failures) == ([URL, MOVED], [])


def test_a_failure_is_archived_under_the_url_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of a probe is not the URL of the robots.txt."""
    crawl, kept = Downloading(monkeypatch, **PROBE), Archive()
    crawl.runtime.observer = cast("Any", kept)
    crawl.site = misplaced(missing=fail(REFUSED))
    crawl.fetched()
    assert kept.responses == [URL]
    assert kept.failures == [(crawl.urls[1], "connection refused")]
    assert crawl.urls[1] != URL


def test_a_request_that_cannot_be_made_is_a_failure(crawl: Downloading, archive: Archive) -> None:
    """A fetch fails only by being cancelled."""
    result = crawl.fetched(origin=Origin("http", "a]", 80))
    assert (result.status, result.local) == (None, False)
    (failure,) = archive.failures
    assert failure == ("http://a]/robots.txt", result.error)


def test_a_fetch_that_is_cancelled_is_archived_and_not_counted(
    crawl: Downloading, archive: Archive
) -> None:
    """The request may have left, and is not sent later; nothing is known of the site."""
    crawl.site = by_url({})
    failures: list[Any] = []

    async def cancel() -> None:
        crawl.robots.live.use(A)
        fetch = crawl.runtime.fetch(A, Request(PAGE), None)
        fetch.addErrback(failures.append)
        await turns()
        assert crawl.urls == [URL]
        fetch.cancel()
        await turns()

    run(cancel)
    assert archive.failures == [(URL, "cancelled")]
    assert [failure.type for failure in failures] == [CancelledError]
    assert crawl.stat("robotstxt/request_count") is None
    assert crawl.cancelled == crawl.sent
    assert not crawl.routes.has_failed(A)


# --- what the lookup asks


def test_an_override_changes_the_statuses_of_its_host_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FET-09."""
    rows = {"a.example": {"status_policy": {404: "disallow"}}, "c.example": {"token": "own"}}
    runtime = Downloading(monkeypatch, ROBOTSPEC_OVERRIDES=rows).runtime
    assert runtime.policy_of(A).status_policy == {404: Meaning.DISALLOW}
    assert runtime.policy_of(B).status_policy == {}
    assert runtime.policy_of(Origin("http", "c.example", 80)).status_policy == {}


def test_without_overrides_all_hosts_have_the_projects_policy(crawl: Downloading) -> None:
    assert crawl.runtime.policy_of(A) == crawl.runtime.policy_of(B) == Settings().access_policy()


def test_threads_end_with_the_crawl(crawl: Downloading) -> None:
    ended: list[threading.Thread] = []
    has_run = threading.Event()

    def work() -> None:
        ended.append(threading.current_thread())
        has_run.set()

    async def use() -> None:
        crawl.runtime.in_thread(work)
        has_run.wait(10)
        await crawl.runtime.close()

    run(use)
    ended[0].join(10)
    assert not ended[0].is_alive()


def rules_of(body: bytes) -> Any:
    """Rules in force for A."""
    plan = Plan(Action.RULES, "", False, 0.0)
    return RulesCache().make(RobotsRecord(A, body=body), plan, EDITIONS["google-2019"], 0.0)


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("replaced", [None, RobotsTxt.parse(b"")])
@pytest.mark.parametrize("signal", [_compat.robots_parsed, signals.robots_changed])
def test_new_rules_are_announced_unless_they_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, signal: object, replaced: RobotsTxt | None, dry_run: bool
) -> None:
    """The first as parsed; later ones as changed, too."""
    crawl = Downloading(monkeypatch)
    object.__setattr__(crawl.runtime.settings, "dry_run", dry_run)
    received: list[Any] = []

    def handler(**arguments: Any) -> None:
        received.append(arguments.get("robotparser") or arguments["new"])

    crawl.crawler.signals.connect(handler, signal)

    async def announce() -> None:
        announcing = crawl.runtime.on_rules(rules_of(RULES), Request(PAGE), replaced)
        await _compat.as_future(Deferred.fromCoroutine(announcing))

    run(announce)
    is_sent = signal is _compat.robots_parsed or replaced is not None
    assert len(received) == (is_sent and not dry_run)


# --- stores


@pytest.mark.parametrize("cache", ["memory://", "sqlite:///{folder}/robots.db"])
def test_a_store_that_processes_share_is_behind_the_memory(cache: str, tmp_path: Path) -> None:
    """CAC-05: only then other processes see what one has fetched."""
    settings = Settings(cache=cache.format(folder=tmp_path))
    lookup = open_lookup(cast("Any", Runtime(settings)))
    assert isinstance(lookup.store, MemoryStore if cache == "memory://" else TieredStore)
    Deferred.fromCoroutine(lookup.close())


class Runtime(LookupHarness):
    """A runtime whose threads work at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.live, self.settings = LiveOrigins(), settings

    def in_thread(self, call: Any, *args: Any) -> Deferred[Any]:
        return self.threads(call, *args)


@pytest.mark.parametrize(
    "uri", ["memory://", "memory:", "memory://?max=10", "sqlite:///{folder}/robots.db"]
)
def test_records_that_do_not_fit_into_memory_are_found_without_the_shared_store(
    uri: str, tmp_path: Path
) -> None:
    """A call to it takes a thread and a round trip of the request through the scheduler."""
    settings = Settings(cache=uri.format(folder=tmp_path))
    lookup = open_lookup(cast("Any", Runtime(settings)))
    store: Any = lookup.store
    store = getattr(store, "memory", store)
    store._table.max_number = 10
    for number in range(100):
        store.put(plain_record(origin(number), NOW))
    assert len(store._table.entries) <= 10
    assert all(store.get(origin(number)) is not None for number in range(100))
    Deferred.fromCoroutine(lookup.close())
