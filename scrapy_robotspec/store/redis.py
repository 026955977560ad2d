"""The store in a Redis server, which a fleet of crawlers may share.

One key an origin, which the server forgets by itself long after the record has run out; leases are
keys of their own that live as long as the lease. All keys carry a prefix and a version.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import RecordStore, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin

#: Of the keys; the records have their own.
_VERSION = 1

# MGET, not GET, everywhere: it takes a key of another type for a miss instead of an error.

#: Take the lease unless somebody else has it. The server runs a script as one step.
_ACQUIRE = """
local holder = redis.call('MGET', KEYS[1])[1]
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
#: Give it back only if it is still ours.
_RELEASE = """
if redis.call('MGET', KEYS[1])[1] ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""

#: Redis takes no expiry beyond the end of its clock; a hundred years are enough (seconds).
_LONGEST = 100 * 365 * 86_400.0

#: Keys looked at in one round trip when all are.
_BATCH = 500


class RedisStore(RecordStore):
    """Keeps records at *url* under keys that begin with *prefix*.

    *timeout* bounds connecting and every answer (seconds). A record is kept *keep* seconds longer
    than it is fresh: while an origin is unreachable the last good copy may count for weeks. Nothing
    is sent before the first call. May be called from any thread.
    """

    slow: ClassVar[bool] = True

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
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # A connection that a restart of the server broke is made anew at once.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._acquire = self._client.register_script(_ACQUIRE)
        self._release = self._client.register_script(_RELEASE)

    def get(self, origin: Origin) -> RobotsRecord | None:
        with self._failing():
            return read(self._client.mget([self._key(origin)])[0], origin)

    def put(self, record: RobotsRecord) -> None:
        # Counted from the record's own times: the server only needs to know how long.
        fresh_for = max((record.expires_at or 0.0) - record.updated_at, 0.0)
        milliseconds = int(min(fresh_for + self._keep, _LONGEST) * 1000)
        with self._failing():
            self._client.set(self._key(record.origin), record.to_bytes(), px=milliseconds)

    def delete(self, origin: Origin) -> None:
        with self._failing():
            self._client.delete(self._key(origin))

    def purge(self, before: float) -> int:
        """As in the contract. Seldom needed: the server forgets old records by itself."""
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

    def close(self) -> None:
        with self._failing():
            self._client.close()

    def __len__(self) -> int:
        with self._failing():
            return sum(len(keys) for keys in self._batches())

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
