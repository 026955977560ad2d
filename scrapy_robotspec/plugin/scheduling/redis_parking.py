"""Requests that wait in a scrapy-redis worker, kept in Redis meanwhile.

A worker that is killed loses none of them: its heartbeat ends, and another worker puts them back
into the shared queue. The copy in memory is the one that goes; the one in Redis says whose it is.

A request that this worker cannot decode is kept as it is under ``QUEUE:parked:undecodable``. No
worker waits for it. Each worker tries it once, at its start: it may have the code that decodes it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from redis import RedisError
from scrapy import Request
from scrapy import signals as scrapy_signals
from scrapy.exceptions import DontCloseSpider

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.meta_keys import TRANSFER

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.signalmanager import SignalManager

logger = logging.getLogger(__name__)

#: A worker says that it is alive this often, and counts as alive this long after (seconds).
BEAT = 5.0
LIFETIME = 3 * BEAT

#: In the place of a worker's name: requests that none could decode.
UNDECODABLE = "undecodable"

#: Moves the requests of a worker without a heartbeat to another one, and returns them.
_TAKE_OVER = """
if redis.call('EXISTS', KEYS[1]) == 1 then return {} end
local parked = redis.call('HGETALL', KEYS[2])
for i = 1, #parked, 2 do
    redis.call('HSET', KEYS[3], parked[i], parked[i + 1])
    redis.call('SADD', KEYS[5], parked[i])
end
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[4], ARGV[1])
redis.call('EXPIRE', KEYS[5], 86400)
return parked
"""


class RedisParking:
    """Parked requests of one worker. *queue* is scrapy-redis's own.

    While Redis fails, requests are parked in memory only; one warning is logged.
    """

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._redis = queue.server
        self.worker = uuid4().hex
        self._names: dict[Request, str] = {}
        self._gone: list[str] = []
        """Names of requests that wait no more, and that Redis has not deleted yet."""
        self._take_over = self._redis.register_script(_TAKE_OVER)
        self._timer: Any = None
        self._failing = False
        self._is_unencoded = False

    def open(self, signals: SignalManager) -> None:
        """Begin the heartbeat, and take over what dead workers have left."""
        signals.connect(self._spider_idle, scrapy_signals.spider_idle)
        self._try(lambda: self._take(UNDECODABLE))
        self._go_on()

    def _go_on(self) -> None:
        self._timer = _compat.call_later(BEAT, self._go_on)
        self._try(self._beat)

    def park(self, request: Request) -> None:
        """Keep *request* in Redis too."""
        try:
            data = self._queue._encode_request(request)
        except Exception as error:  # another middleware may have added what no serializer can take
            if not self._is_unencoded:
                self._is_unencoded = True
                self._warn(error)
            return
        self._names[request] = name = uuid4().hex
        self._try(lambda: self._redis.hset(self._parked(self.worker), name, data))

    def unpark(self, request: Request) -> bool:
        """Delete *request*, which waits no more; False if another worker has it."""
        name = self._names.pop(request, None)
        if name is None:
            return True  # it could not be encoded
        deleted = self._try(lambda: self._redis.hdel(self._parked(self.worker), name))
        if deleted is None:
            self._gone.append(name)
        # One that is gone and was not taken over has been lost by the server: this worker keeps it.
        taken = self._parked(self.worker, ":taken-over")
        return bool(deleted) or not self._try(lambda: self._redis.sismember(taken, name))

    def feed(self, crawler: Crawler) -> None:
        """Let a ``RedisSpider`` take its next URLs, as when it is idle.

        Only parked requests keep it from that.
        """
        take = getattr(crawler.spider, "schedule_next_requests", None)
        active = _compat.part(crawler.engine, "downloader.active") or ()
        is_idle = all(each in self._names or TRANSFER in each.meta for each in active)
        if take and self._names and is_idle:
            self._try(take)

    def _spider_idle(self) -> None:
        """Stay while other workers have parked requests, to take them over perhaps."""
        if self._try(lambda: any(map(self._redis.hlen, map(self._parked, self._others())))):
            raise DontCloseSpider

    def close(self) -> None:
        """End the heartbeat; the scheduler has the parked requests again."""
        for request in list(self._names):
            self.unpark(request)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._try(self._leave)

    # --- Redis

    def _beat(self) -> None:
        self._redis.sadd(self._workers, self.worker)
        self._redis.set(self._parked(self.worker, ":alive"), 1, px=int(LIFETIME * 1000))
        self._forget()
        own = self._parked(self.worker)
        if self._redis.hlen(own) > len(self._names):
            # From an old copy of Redis's data, or a takeover in which Redis failed.
            known = set(self._names.values())
            parked = self._redis.hgetall(own).items()
            self._put_back([each for each in parked if _text(each[0]) not in known])
        for worker in self._others():
            self._take(worker)

    def _forget(self) -> None:
        """Delete the requests that went while Redis failed."""
        if self._gone:
            self._redis.hdel(self._parked(self.worker), *self._gone)
            self._gone.clear()

    def _take(self, worker: str) -> None:
        """Put the requests of *worker*, if it is dead, back into the queue."""
        own, theirs = self._parked(self.worker), self._parked(worker)
        keys = [f"{theirs}:alive", theirs, own, self._workers, f"{theirs}:taken-over"]
        parked = self._take_over(keys, [worker])
        if taken := self._put_back(list(zip(parked[::2], parked[1::2], strict=True))):
            logger.info("Took over %d parked requests of a scrapy-redis worker that is gone", taken)

    def _put_back(self, parked: list[tuple[Any, Any]]) -> int:
        """Move *parked* from here to the queue, and return the number that was decoded."""
        own, problems = self._parked(self.worker), list[Exception]()
        for name, data in parked:
            try:
                request = self._queue._decode_request(data)
            except Exception as error:  # of any serializer; a callback may have another name now
                problems.append(error)
                self._redis.hset(self._parked(UNDECODABLE), name, data)
            else:
                self._queue.push(request)
            self._redis.hdel(own, name)
        if problems:
            logger.error(
                "%d parked requests cannot be decoded (%s: %s): they stay in Redis under %s, and "
                "the next worker that starts tries them again",
                len(problems),
                type(problems[0]).__name__,
                problems[0],
                self._parked(UNDECODABLE),
            )
        return len(parked) - len(problems)

    def _leave(self) -> None:
        self._forget()
        if not self._redis.hlen(self._parked(self.worker)):
            self._redis.srem(self._workers, self.worker)
        self._redis.delete(self._parked(self.worker, ":alive"))

    def _others(self) -> list[str]:
        return sorted(set(map(_text, self._redis.smembers(self._workers))) - {self.worker})

    def _try(self, call: Callable[[], Any]) -> Any:
        """The result of *call*; None while Redis fails."""
        try:
            result = call()
        except (RedisError, OSError) as error:
            if not self._failing:
                self._failing = True
                self._warn(error)
            return None
        self._failing = False
        return result

    def _warn(self, error: Exception) -> None:
        logger.warning(
            "Requests of waiting origins are parked in memory only, and are lost if this worker is "
            "killed (%s: %s)",
            type(error).__name__,
            error,
        )

    @property
    def _workers(self) -> str:
        return f"{self._queue.key}:parked"

    def _parked(self, worker: str, suffix: str = "") -> str:
        return f"{self._workers}:{worker}{suffix}"


def _text(name: str | bytes) -> str:
    """*name*, which is a text if the user's client decodes it."""
    return name if isinstance(name, str) else name.decode()
