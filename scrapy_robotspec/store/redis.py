"""The store in a Redis server, which a fleet of crawlers may share.

Records, leases and page slots are keys that expire by themselves. Every key carries a prefix and a
version.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import Fleet, RecordStore, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin

#: Of the keys; the records have their own.
_VERSION = 1

# MGET instead of GET everywhere: for a key of another type it returns nil instead of an error.

#: Takes the lease unless another owner holds it. The server runs a script as one step.
_ACQUIRE = """
local holder = redis.call('MGET', KEYS[1])[1]
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
#: Deletes the lease if the owner still holds it.
_RELEASE = """
if redis.call('MGET', KEYS[1])[1] ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""

#: Reserves the slot of a page, by the server's clock (microseconds). Returns the time to wait and
#: the mark of this memory of slots.
#:
#: A server that was restarted or flushed has forgotten the last pages. Its mark is gone with them:
#: a client that knew one leaves a new mark that begins with "lost", and until one delay after that
#: no page goes whose origin has no slot. A client without a mark starts with an empty server.
_RESERVE = """
local time = redis.call('TIME')
local now, delay = time[1] * 1000000 + time[2], tonumber(ARGV[1])
local found = redis.call('MGET', KEYS[1], KEYS[2])
local last, mark = tonumber(found[1] or ''), found[2]
if not mark then
    mark = (ARGV[2] == '' and 'new:' or 'lost:') .. string.format('%.0f', now)
    redis.call('SET', KEYS[2], mark)
end
if not last and string.sub(mark, 1, 5) == 'lost:' then last = tonumber(string.sub(mark, 6)) end
local set_back = last and last > now
local wait = last and math.max(0, math.min(last, now) + delay - now) or 0
if wait == 0 or set_back then
    local kept = math.max(3600000, math.ceil(delay / 500))
    local sent = now + math.min(delay, 0)
    if last and not set_back then sent = math.max(last, sent) end
    redis.call('SET', KEYS[1], string.format('%.0f', sent), 'PX', string.format('%.0f', kept))
end
return {string.format('%.0f', wait), mark}
"""
#: Counts the owner as alive, and returns its rank, the number of live owners and the time.
_HEARTBEAT = """
local time = redis.call('TIME')
local now, lifetime = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[2])
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + lifetime))
local owners, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
    local left = (tonumber(all[i + 1]) or 0) - now
    if left > 0 and left <= lifetime then
        table.insert(owners, all[i])
    else
        redis.call('HDEL', KEYS[1], all[i])
    end
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', lifetime))
table.sort(owners)
for i, owner in ipairs(owners) do
    if owner == ARGV[1] then return {i - 1, #owners, time[1], time[2]} end
end
"""

#: Redis takes no expiry beyond the end of its clock; a hundred years are enough (seconds).
_LONGEST = 100 * 365 * 86_400.0

#: Keys looked at in one round trip when all are.
_BATCH = 500


class RedisStore(RecordStore):
    """Keeps records at *url* under keys that begin with *prefix*.

    *timeout* bounds connecting and every call (seconds). A record is kept *keep* seconds longer
    than it is fresh: while an origin is unreachable the last good copy may count for weeks. Nothing
    is sent before the first call. May be called from any thread. Needs Redis 5 or newer.
    """

    def __init__(self, url: str, prefix: str, timeout: float, keep: float) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ConfigurationError(
                f"ROBOTSPEC_CACHE = {url.partition(':')[0]}://… needs the Redis client: "
                "pip install 'scrapy-robotspec[redis]'"
            ) from error
        self._errors = (redis.RedisError, OSError)
        self._keep = keep
        self._records = f"{prefix}:{_VERSION}:record:"
        self._leases = f"{prefix}:{_VERSION}:lease:"
        self._slots = f"{prefix}:{_VERSION}:slot:"
        self._slots_mark = f"{prefix}:{_VERSION}:slots"
        self._processes = f"{prefix}:{_VERSION}:processes"
        self._known_mark = b""
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # A connection that a restart of the server broke is made anew at once.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._acquire = self._client.register_script(_ACQUIRE)
        self._release = self._client.register_script(_RELEASE)
        self._reserve = self._client.register_script(_RESERVE)
        self._heartbeat = self._client.register_script(_HEARTBEAT)

    def get(self, origin: Origin) -> RobotsRecord | None:
        with self._failing():
            return read(self._client.mget([self._key(origin)])[0], origin)

    def put(self, record: RobotsRecord) -> None:
        # Counted from the record's own times: the server only needs to know how long.
        fresh_for = max((record.expires_at or 0.0) - record.updated_at, 0.0)
        milliseconds = int(min(fresh_for + self._keep, _LONGEST) * 1000)
        with self._failing():
            self._client.set(self._key(record.origin), record.to_bytes(), px=milliseconds)

    def purge(self, before: float) -> int:
        """As in the contract. Rarely needed: old records expire by themselves."""
        purged = 0
        with self._failing():
            for keys in self._batches():
                old = [
                    key
                    for key, data in zip(keys, self._client.mget(keys), strict=True)
                    if data is not None and not _is_newer(data, before)
                ]
                if old:
                    purged += int(self._client.delete(*old))
        return purged

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        """As in the contract, but the server's clock measures the lease."""
        milliseconds = max(1, int(seconds * 1000))
        with self._failing():
            return bool(self._acquire([self._lease(origin)], [owner, milliseconds]))

    def release(self, origin: Origin, owner: str) -> None:
        with self._failing():
            self._release([self._lease(origin)], [owner])

    def reserve(self, origin: Origin, now: float, delay: float) -> float:
        """As in the contract, by the server's clock."""
        keys = [f"{self._slots}{origin}", self._slots_mark]
        with self._failing():
            microseconds = int(min(delay, _LONGEST) * 1e6)
            wait, self._known_mark = self._reserve(keys, [microseconds, self._known_mark])
        return now + int(wait) / 1e6 if int(wait) else 0.0

    def heartbeat(self, owner: str, now: float, seconds: float) -> Fleet:
        """As in the contract, by the server's clock."""
        with self._failing():
            milliseconds = max(1, int(seconds * 1000))
            rank, size, whole, micro = self._heartbeat([self._processes], [owner, milliseconds])
        return Fleet(int(rank), int(size), int(whole) + int(micro) / 1e6)

    def close(self) -> None:
        with self._failing():
            self._client.close()

    def _key(self, origin: Origin) -> str:
        return f"{self._records}{origin}"

    def _lease(self, origin: Origin) -> str:
        return f"{self._leases}{origin}"

    def _batches(self) -> Iterator[list[bytes]]:
        escaped = "".join(f"\\{c}" if c in r"\*?[]" else c for c in self._records)
        # A scan may name a key twice.
        keys = iter(set(self._client.scan_iter(match=f"{escaped}*", count=_BATCH)))
        while batch := list(islice(keys, _BATCH)):
            yield batch

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StoreError(f"Redis: {error}") from error


def _is_newer(data: bytes | str, before: float) -> bool:
    record = RobotsRecord.from_bytes(data) if isinstance(data, bytes) else None
    return record is not None and record.updated_at >= before
