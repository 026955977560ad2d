"""Parking: who has a request that waits, while workers die and Redis fails."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.signalmanager import SignalManager
from twisted.internet.task import Clock

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.meta_keys import TRANSFER

pytest.importorskip("redis", reason="redis is not installed")

import redis
from redis import RedisError

from scrapy_robotspec.plugin.scheduling.redis_parking import BEAT, LIFETIME, RedisParking
from tests.support.redis_server import RedisServer


class Redis:
    """The commands that parking uses, on dicts, with a clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.hashes = defaultdict[str, dict[str, str]](dict)
        self.sets = defaultdict[str, set[str]](set)
        self.flags: dict[str, float] = {}
        self.fails = False

    def _check(self) -> None:
        if self.fails:
            raise RedisError("gone")

    def hset(self, key: str, name: str, data: str) -> None:
        self._check()
        self.hashes[key][name] = data

    def hdel(self, key: str, *names: str) -> int:
        self._check()
        return sum(self.hashes[key].pop(name, None) is not None for name in names)

    def hgetall(self, key: str) -> dict[str, str]:
        self._check()
        return dict(self.hashes[key])

    def hlen(self, key: str) -> int:
        self._check()
        return len(self.hashes[key])

    def sadd(self, key: str, member: str) -> None:
        self._check()
        self.sets[key].add(member)

    def srem(self, key: str, member: str) -> None:
        self.sets[key].discard(member)

    def sismember(self, key: str, member: str) -> bool:
        self._check()
        return member in self.sets[key]

    def smembers(self, key: str) -> set[str]:
        self._check()
        return set(self.sets[key])

    def set(self, key: str, value: int, px: int) -> None:
        self.flags[key] = self._clock.seconds() + px / 1000

    def exists(self, key: str) -> bool:
        self._check()
        return self.flags.get(key, 0.0) > self._clock.seconds()

    def delete(self, key: str) -> None:
        self.flags.pop(key, None)

    def register_script(self, script: str) -> Callable[[Sequence[str], Sequence[str]], list[str]]:
        def take_over(keys: Sequence[str], arguments: Sequence[str]) -> list[str]:
            self._check()
            if self.exists(keys[0]):
                return []
            parked = self.hashes.pop(keys[1], {})
            self.hashes[keys[2]].update(parked)
            self.sets[keys[3]].discard(arguments[0])
            self.sets[keys[4]].update(parked)
            return [each for pair in parked.items() for each in pair]

        return take_over


class Queue:
    """scrapy-redis's, with the requests that were pushed."""

    key = "q"

    def __init__(self, server: Redis) -> None:
        self.server = server
        self.pushed: list[str] = []

    def _encode_request(self, request: Request) -> str:
        return json.dumps(request.meta | {"url": request.url})

    def _decode_request(self, data: str) -> Request:
        read = json.loads(data)
        if "undecodable" in read["url"]:
            raise ValueError("no such callback")
        return Request(read["url"])

    def push(self, request: Request) -> None:
        self.pushed.append(request.url)


class Fleet:
    """Workers with one Redis and one clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        monkeypatch.setattr(_compat, "call_later", self.clock.callLater)
        self.redis = Redis(self.clock)
        self.queue = Queue(self.redis)

    def worker(self) -> RedisParking:
        parking = RedisParking(self.queue)
        parking.open(SignalManager())
        return parking

    def kill(self, parking: RedisParking) -> None:
        parking._timer.cancel()

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / BEAT)):
            self.clock.advance(BEAT)


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    return Fleet(monkeypatch)


def request(path: str = "/", **meta: Any) -> Request:
    return Request(f"http://a.example{path}", meta=meta)


def test_a_request_rests_in_redis_while_it_waits(fleet: Fleet) -> None:
    one, waiting = fleet.worker(), request()
    one.park(waiting)
    (parked,) = fleet.redis.hashes[f"q:parked:{one.worker}"].values()
    assert "a.example" in parked
    assert one.unpark(waiting)
    assert fleet.redis.hashes[f"q:parked:{one.worker}"] == {}
    assert one.unpark(waiting), "it was never parked, or is not any more"


@pytest.mark.parametrize("is_killed", [False, True])
def test_requests_of_a_dead_worker_go_back_to_the_queue(fleet: Fleet, is_killed: bool) -> None:
    """A living one keeps them; one that comes back finds that they are another's."""
    dead, other, waiting = fleet.worker(), fleet.worker(), request()
    dead.park(waiting)
    if is_killed:
        fleet.kill(dead)
    with pytest.raises(DontCloseSpider):
        other._spider_idle()
    fleet.pass_time(2 * LIFETIME)
    assert fleet.queue.pushed == (["http://a.example/"] if is_killed else [])
    assert dead.unpark(waiting) is not is_killed
    other._spider_idle()
    assert fleet.redis.hashes[f"q:parked:{other.worker}"] == {}


def test_a_request_that_was_never_in_redis_stays_its_workers(fleet: Fleet) -> None:
    """It could not be encoded; the others of its worker have been taken over."""
    dead, waiting = fleet.worker(), request(callback=object())
    fleet.worker()
    dead.park(request())
    dead.park(waiting)
    fleet.kill(dead)
    fleet.pass_time(2 * LIFETIME)
    assert fleet.queue.pushed == ["http://a.example/"]
    assert dead.unpark(waiting)


@pytest.mark.parametrize("decodes", [False, True])
def test_redis_says_which_requests_were_taken_over(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch, decodes: bool
) -> None:
    """Of a worker that was suspended: those it gets back no more, and no others."""
    fleet = Fleet(monkeypatch)
    client = redis.Redis.from_url(own_redis.uri, decode_responses=decodes)
    fleet.queue = Queue(cast("Any", client))
    one, other, taken, lost = fleet.worker(), fleet.worker(), request("/taken"), request("/lost")
    one.park(taken)
    client.set(f"q:parked:{one.worker}:taken", 1)  # an earlier build has taken requests, too
    client.delete(f"q:parked:{one.worker}:alive")
    other._beat()
    assert fleet.queue.pushed == ["http://a.example/taken"]
    assert not one.unpark(taken)
    assert 0 < client.ttl(f"q:parked:{one.worker}:taken-over") <= 86_400
    one.park(lost)
    client.delete(f"q:parked:{one.worker}")
    assert one.unpark(lost)


@pytest.mark.parametrize("lost", ["as it was parked", "later"])
def test_a_request_that_redis_lost_after_a_takeover_stays_its_workers(
    fleet: Fleet, lost: str
) -> None:
    """The worker was suspended once, and others took over what it had then."""
    one, other, taken, waiting = fleet.worker(), fleet.worker(), request("/taken"), request()
    one.park(taken)
    fleet.kill(one)
    fleet.pass_time(2 * LIFETIME)
    assert not one.unpark(taken)
    fleet.redis.fails = lost == "as it was parked"
    one.park(waiting)
    fleet.redis.fails = False
    fleet.redis.hashes.clear()
    assert one.unpark(waiting)
    other._spider_idle()


def test_a_request_that_the_server_has_lost_stays_its_workers(fleet: Fleet) -> None:
    one, waiting = fleet.worker(), request()
    one.park(waiting)
    fleet.redis.hashes.clear()
    assert one.unpark(waiting)


@pytest.mark.parametrize("ends", [False, True])
def test_a_request_that_goes_while_redis_fails_is_deleted_later(fleet: Fleet, ends: bool) -> None:
    """Else the workers would wait for each other's without end."""
    one, other, waiting = fleet.worker(), fleet.worker(), request()
    one.park(waiting)
    fleet.redis.fails = True
    assert one.unpark(waiting)
    fleet.redis.fails = False
    if ends:
        one.close()
    else:
        fleet.pass_time(BEAT)
    assert one._gone == []
    other._spider_idle()
    fleet.pass_time(2 * LIFETIME)
    assert fleet.queue.pushed == []


def test_a_worker_puts_back_what_an_old_copy_of_the_data_has_under_its_name(fleet: Fleet) -> None:
    one, other = fleet.worker(), fleet.worker()
    one.park(request())
    own = fleet.redis.hashes[f"q:parked:{one.worker}"]
    own["old"] = '{"url": "http://a.example/old"}'
    fleet.pass_time(BEAT)
    assert fleet.queue.pushed == ["http://a.example/old"]
    assert len(own) == 1
    with pytest.raises(DontCloseSpider):
        other._spider_idle()


def test_what_no_worker_can_decode_is_kept(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    dead, other = fleet.worker(), fleet.worker()
    for path in ("/yes", "/undecodable"):
        dead.park(request(path))
    fleet.kill(dead)
    fleet.pass_time(2 * LIFETIME)
    assert fleet.queue.pushed == ["http://a.example/yes"]
    assert len(fleet.redis.hashes["q:parked:undecodable"]) == 1
    other._spider_idle()
    (line,) = [line for line in caplog.messages if "cannot be decoded" in line]
    assert line.startswith("1 parked requests cannot be decoded (ValueError: no such callback)")
    (line,) = [line for line in caplog.messages if line.startswith("Took over ")]
    assert line.startswith("Took over 1 parked requests")
    fleet.redis.hashes["q:parked:undecodable"] = {"name": '{"url": "http://a.example/now"}'}
    fleet.worker()
    assert fleet.queue.pushed[-1] == "http://a.example/now"


def test_a_failing_redis_is_warned_of_once_for_each_failure(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    """Requests wait in memory meanwhile."""
    one, waiting = fleet.worker(), request()
    for warnings in (1, 2):
        fleet.redis.fails = True
        one.park(waiting)
        assert one.unpark(waiting)
        fleet.pass_time(BEAT)
        assert len([line for line in caplog.messages if "in memory only" in line]) == warnings
        fleet.redis.fails = False
        fleet.pass_time(BEAT)


def test_a_request_that_cannot_be_encoded_waits_in_memory(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    one = fleet.worker()
    for number in range(3):
        waiting = request(call=object(), number=number)
        one.park(waiting)
        fleet.redis.fails = True  # nothing is asked of it
        assert one.unpark(waiting)
        fleet.redis.fails = False
    assert len([line for line in caplog.messages if "in memory only" in line]) == 1
    assert fleet.redis.hashes[f"q:parked:{one.worker}"] == {}


PARKED, OWN, PAGE = (request(path) for path in ("/parked", "/robots.txt", "/page"))
OWN.meta[TRANSFER] = "transfer"


@pytest.mark.parametrize(
    ("parked", "active", "takes"),
    [
        (True, {PARKED}, True),
        (True, {PARKED, OWN}, True),
        (True, {PARKED, PAGE}, False),
        (True, None, True),
        (False, set(), False),
    ],
)
@pytest.mark.parametrize("can_take", [True, False])
def test_a_spider_takes_its_next_urls_where_only_parked_requests_keep_it_from_that(
    fleet: Fleet, parked: bool, active: set[Request] | None, takes: bool, can_take: bool
) -> None:
    """And the crawl's own; a Scrapy that does not show those under way has none."""
    one, taken = fleet.worker(), list[None]()
    spider = SimpleNamespace()
    if can_take:
        spider.schedule_next_requests = lambda: taken.append(None)
    if parked:
        one.park(PARKED)
    engine = SimpleNamespace(downloader=SimpleNamespace(active=active))
    one.feed(cast("Any", SimpleNamespace(spider=spider, engine=engine)))
    assert len(taken) == (takes and can_take)


@pytest.mark.parametrize("failed", [False, True])
def test_a_worker_that_ends_leaves_nothing(fleet: Fleet, failed: bool) -> None:
    """But what it could not take back: then others take it over."""
    one = fleet.worker()
    one.park(request())
    if failed:
        removed = fleet.redis.hdel
        fleet.redis.hdel = lambda key, *names: 1  # type: ignore[method-assign]
    one.close()
    one.close()
    assert (one.worker in fleet.redis.sets["q:parked"]) is failed
    assert fleet.clock.getDelayedCalls() == []
    if failed:
        fleet.redis.hdel = removed  # type: ignore[method-assign]
        fleet.worker()
        assert fleet.queue.pushed == ["http://a.example/"]
