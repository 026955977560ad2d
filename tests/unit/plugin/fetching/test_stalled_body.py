"""A body that takes long, and what a second request says about it."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Headers, Response
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.plugin.fetching.robots_request import META_KEY, Transfer, transfer_of
from scrapy_robotspec.plugin.fetching.stalled_body import StalledBody
from tests.support.timers import call_later

URL = "http://a.example/robots.txt"


class Fetch:
    """A request whose headers have arrived; ten seconds are left for its body."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.downloads: list[tuple[Request, Deferred[Response]]] = []
        self.cancelled: list[bool] = []
        self.came: list[Any] = []
        request = Request(URL, meta={META_KEY: Transfer("slot", ())})
        self.transfer = transfer_of(request)
        self.body = StalledBody(request, self._download, call_later(self.clock), 10.0)
        self.body.outcome.addBoth(self.came.append)
        assert self.transfer is not None
        assert self.transfer.on_headers is not None
        self.transfer.on_headers()

    def _download(self, request: Request) -> Deferred[Response]:
        """Cancelled downloads are noted by whether these were for the status only."""
        transfer = transfer_of(request)
        assert transfer is not None
        downloading: Deferred[Response] = Deferred(
            lambda _: self.cancelled.append(transfer.status_only)
        )
        self.downloads.append((request, downloading))
        return downloading

    def pass_time(self, *seconds: float) -> None:
        self.clock.pump(seconds)

    def answer(self, number: int, status: int, headers: dict[str, str] | None = None) -> None:
        request, downloading = self.downloads[number]
        transfer = transfer_of(request)
        assert transfer is not None
        transfer.headers = Headers(headers)
        downloading.callback(Response(URL, status=status))

    def status(self) -> int:
        """The status of the outcome."""
        ((response, _),) = self.came
        found: int = response.status
        return found


def test_body_in_time_is_asked_for_once() -> None:
    fetch = Fetch()
    fetch.pass_time(8.0, 1.5)
    fetch.answer(0, 404)
    fetch.pass_time(100.0)
    assert len(fetch.downloads) == 1
    assert fetch.came[0][1] is fetch.transfer
    assert fetch.clock.getDelayedCalls() == []


def test_body_that_arrived_while_the_process_was_busy_is_read_first() -> None:
    """All timers are late then, and come before what the network has brought."""
    fetch = Fetch()
    fetch.pass_time(60.0)
    fetch.answer(0, 200)
    fetch.pass_time(100.0)
    assert len(fetch.downloads) == 1


@pytest.mark.parametrize("status", [301, 404, 503])
def test_other_status_than_a_2xx_takes_the_place_of_the_body(status: int) -> None:
    """The first download is cancelled."""
    fetch = Fetch()
    fetch.pass_time(8.0, 2.0)
    fetch.answer(1, status)
    assert fetch.status() == status
    assert fetch.came[0][1].status_only
    assert fetch.cancelled == [False]


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Length": "9"},
        {"Content-Type": "text/html"},
        {"Retry-After": "1"},
        {"Location": "/"},
    ],
)
def test_status_of_another_response_is_not_the_first_ones(headers: dict[str, str]) -> None:
    """FET-08: a server may refuse a second connection while it sends a slow file."""
    fetch = Fetch()
    fetch.pass_time(8.0, 2.0)
    fetch.answer(1, 429, headers)
    assert fetch.came == []
    fetch.answer(0, 200)
    assert fetch.status() == 200


def test_body_of_a_2xx_is_awaited_further() -> None:
    fetch = Fetch()
    fetch.pass_time(8.0, 2.0)
    fetch.answer(1, 200)
    assert fetch.came == []
    fetch.answer(0, 200)
    assert fetch.came[0][1] is fetch.transfer


def test_failure_of_the_second_request_changes_nothing() -> None:
    fetch = Fetch()
    fetch.pass_time(8.0, 2.0)
    fetch.downloads[1][1].errback(OSError("refused"))
    assert fetch.came == []
    fetch.answer(0, 404)
    assert fetch.status() == 404


def test_cancelling_the_outcome_cancels_both_requests() -> None:
    fetch = Fetch()
    fetch.pass_time(8.0, 2.0)
    fetch.body.outcome.cancel()
    assert fetch.came[0].check(CancelledError)
    assert sorted(fetch.cancelled) == [False, True]
