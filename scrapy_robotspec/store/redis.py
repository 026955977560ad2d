"""The store in a Redis server, for a fleet of crawlers.

Records, leases and page slots are keys that expire by themselves. Every key carries a prefix and a
version.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import Claim, RecordStore, read
from scrapy_robotspec.store.page_slots import HORIZON, KEPT, Reservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.page_slots import SlotRequest

#: Version of the keys; the records have their own.
_VERSION = 1

# MGET instead of GET everywhere: for a key of another type it returns nil instead of an error.

#: Takes the lease unless another owner holds it. The server runs a script as one step.
_ACQUIRE = """
local holder = redis.call('MGET', KEYS[1])[1]
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
#: Returns the record if it is another one than the caller knows, or takes the lease.
_CLAIM = """
local found = redis.call('MGET', KEYS[1], KEYS[2])
local record, holder = found[1], found[2]
if record and string.sub(record, 1, 8) ~= ARGV[3] then return {0, record} end
if holder and holder ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return {1}
"""
#: Stores a record and deletes the lease if the owner still holds it.
_PUT_AND_RELEASE = """
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
if redis.call('MGET', KEYS[2])[1] == ARGV[1] then redis.call('DEL', KEYS[2]) end
"""
#: Deletes the lease if the owner still holds it.
_RELEASE = """
if redis.call('MGET', KEYS[1])[1] ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""

#: ``page_slots.reserve`` by the server's clock, in microseconds.
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local spacing, ticket = tonumber(ARGV[1]), tonumber(ARGV[2])
local given_up, within = tonumber(ARGV[3]), tonumber(ARGV[4])
local horizon, kept = tonumber(ARGV[5]), tonumber(ARGV[6])
local returning, stays = ARGV[7] == '1', within >= horizon
local line = redis.call('MGET', KEYS[1])[1] or ''
local next, tail, written = string.match(line, '^(%d+) (%d+) (%d+)$')
next, tail, written = tonumber(next), tonumber(tail), tonumber(written)
if not written or written > now then
    next, tail = 0, 0
    if returning or line ~= '' then next = now + horizon + spacing end
end
if given_up > 0 and next == given_up + spacing then next = given_up end
if next < now then tail = 0 end
local at = math.max(now, next)
local first = tail <= at or (ticket > 0 and ticket - horizon <= now)
local due = first or given_up > 0 or not stays
local granted = due and at - now <= within
if granted then
    next = at + spacing
elseif stays and (due or ticket == 0) then
    ticket = math.max(tail, at)
    tail = ticket + spacing
end
local text = string.format('%.0f %.0f %.0f', next, tail, now)
local lifetime = (math.max(next, tail) - now + kept) / 1000
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', lifetime))
at = granted and at or ticket
return {granted and 1 or 0, string.format('%.0f', at), string.format('%.0f', now)}
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
        self._lines = f"{prefix}:{_VERSION}:line:"
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # A connection that a restart of the server broke is opened again at once.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._acquire = self._client.register_script(_ACQUIRE)
        self._release = self._client.register_script(_RELEASE)
        self._claim = self._client.register_script(_CLAIM)
        self._put_and_release = self._client.register_script(_PUT_AND_RELEASE)
        self._reserve = self._client.register_script(_RESERVE)

    def get(self, origin: Origin) -> RobotsRecord | None:
        with self._failing():
            return _read(self._client.mget([self._key(origin)])[0], origin)

    def put(self, record: RobotsRecord) -> None:
        with self._failing():
            self._client.set(self._key(record.origin), _value(record), px=self._lifetime(record))

    def claim(
        self, origin: Origin, owner: str, now: float, seconds: float, known: float | None
    ) -> Claim:
        """As in the contract, in one round trip, by the server's clock."""
        keys = [self._key(origin), self._lease(origin)]
        milliseconds = max(1, int(seconds * 1000))
        with self._failing():
            granted, *data = self._claim(keys, [owner, milliseconds, _stamp(known)])
            record = _read(data[0], origin) if data else None
            if data and record is None:  # garbage: to be replaced like a record that is known
                granted, *_ = self._claim(keys, [owner, milliseconds, data[0][:8]])
        return Claim(bool(granted), record)

    def put_and_release(self, record: RobotsRecord, owner: str) -> None:
        """As in the contract, in one round trip."""
        keys = [self._key(record.origin), self._lease(record.origin)]
        with self._failing():
            self._put_and_release(keys, [owner, _value(record), self._lifetime(record)])

    def _lifetime(self, record: RobotsRecord) -> int:
        """Milliseconds from now on, by the record's own times: no clock of ours is the server's."""
        fresh_for = max((record.expires_at or 0.0) - record.updated_at, 0.0)
        return int(min(fresh_for + self._keep, _LONGEST) * 1000)

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

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """As in the contract, by the server's clock."""
        spacing = min(asked.spacing, _LONGEST)
        times = (spacing, asked.ticket, asked.given_up, asked.within, HORIZON, KEPT)
        arguments = [*(round(each * 1e6) for each in times), int(asked.returning)]
        with self._failing():
            granted, at, now = self._reserve([f"{self._lines}{origin}"], arguments)
        return Reservation(bool(granted), int(at) / 1e6, int(now) / 1e6)

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


def _stamp(updated_at: float | None) -> bytes:
    """The first 8 bytes of a value, by which the server knows a record; empty for no record."""
    return b"" if updated_at is None else struct.pack(">d", updated_at)


def _value(record: RobotsRecord) -> bytes:
    return _stamp(record.updated_at) + record.to_bytes()


def _read(data: object, origin: Origin) -> RobotsRecord | None:
    return read(data[8:], origin) if isinstance(data, bytes) else None


def _is_newer(data: bytes | str, before: float) -> bool:
    record = RobotsRecord.from_bytes(data[8:]) if isinstance(data, bytes) else None
    return record is not None and record.updated_at >= before
