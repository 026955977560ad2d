"""The store in a Redis server, for a fleet of crawlers.

Records, leases and page slots are keys that expire by themselves. Every key carries a prefix and a
version.
"""

from __future__ import annotations

import struct
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.record import MAGIC, RobotsRecord
from scrapy_robotspec.store.base import (
    HORIZON,
    KEPT,
    LONGEST,
    LONGEST_LEASE,
    MAX_AGENTS,
    QUEUE_KEPT,
    Claim,
    RecordStore,
    Reservation,
    SlotRequest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin

#: Version of the keys; the records have their own.
_VERSION = 2

# The server runs a script as one step. MGET, unlike GET, returns nil for a key of another type.

#: Finds an origin's record or the agent's, whichever counts. A value begins with the two times of
#: ``RobotsRecord.rank``, the later one first; one of an earlier release with that one alone.
_FIND = """
local function time_of(value, first)
    return (struct.unpack('>d', string.sub(value, first) .. string.rep('\\0', 8)))
end
local function copied(value)
    return time_of(value, string.sub(value, 9, 12) == 'RSPC' and 1 or 9)
end
local function find(key, agent)
    if redis.call('TYPE', key).ok ~= 'hash' then return false end
    local one, other = unpack(redis.call('HMGET', key, '', agent))
    if not (one and other) then return one or other end
    local older = copied(other) - copied(one)
    if older == 0 then older = time_of(other, 1) - time_of(one, 1) end
    return older > 0 and other or one
end
"""
_GET = (
    _FIND
    + """
local record = find(KEYS[1], ARGV[1])
return record and string.sub(record, 1, 8) ~= ARGV[2] and record
"""
)
#: Returns the record if it is not the one that the caller knows, or takes the lease. A lease that
#: does not expire by itself, or too late, is not one of ours.
_CLAIM = (
    _FIND
    + """
local record, holder = find(KEYS[1], ARGV[4]), redis.call('MGET', KEYS[2])[1]
if record and string.sub(record, 1, 8) ~= ARGV[3] then return {0, record} end
local left = redis.call('PTTL', KEYS[2])
if holder and holder ~= ARGV[1] and left > 0 and left <= tonumber(ARGV[5]) then return {0} end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return {1}
"""
)
#: Stores a record, unless another process has stored one meanwhile, and deletes the own lease.
_PUT = (
    _FIND
    + """
local stored, holder = find(KEYS[1], ARGV[5]), redis.call('MGET', KEYS[2])[1]
if not stored or string.sub(stored, 1, 8) == ARGV[4]
    or holder == ARGV[1] and (ARGV[7] == '' or copied(stored) == 0) then
    local kind = redis.call('TYPE', KEYS[1]).ok
    if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
    redis.call('HSET', KEYS[1], ARGV[5], ARGV[2])
    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
        local refused = redis.pcall('PEXPIRE', KEYS[1], ARGV[3])
        if type(refused) == 'table' then -- nothing is kept for ever
            redis.call('HDEL', KEYS[1], ARGV[5])
            return refused
        end
    end
    while redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], '') > tonumber(ARGV[6]) do
        local all, oldest, since = redis.call('HGETALL', KEYS[1]), nil, nil
        for n = 1, #all, 2 do
            local at = time_of(all[n + 1], 1)
            if all[n] ~= '' and (not since or at < since) then oldest, since = all[n], at end
        end
        redis.call('HDEL', KEYS[1], oldest)
    end
end
if holder == ARGV[1] then redis.call('DEL', KEYS[2]) end
"""
)
#: Deletes a damaged record, unless it has been replaced.
_DISCARD = """
for _, agent in ipairs({'', ARGV[1]}) do
    if redis.call('HGET', KEYS[1], agent) == ARGV[2] then redis.call('HDEL', KEYS[1], agent) end
end
"""
#: Deletes the lease if the owner still holds it.
_RELEASE = """
if redis.call('MGET', KEYS[1])[1] == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

#: ``base.reserve`` by the server's clock, in microseconds. After a start of the server, slots that
#: the one before has granted may be unknown, to callers without a queue since ARGV[9], too.
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local spacing, position = tonumber(ARGV[1]), tonumber(ARGV[2])
local given_up, within = tonumber(ARGV[3]), tonumber(ARGV[4])
local horizon, kept, longest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local seen, known, stays = tonumber(ARGV[8]), tonumber(ARGV[9]), within >= horizon
local queue = redis.call('MGET', KEYS[1])[1] or ''
local next, tail, written = string.match(queue, '^(%d+) (%d+) (%d+)$')
next, tail, written = tonumber(next), tonumber(tail), tonumber(written)
if not written or written > now or next > now + horizon + math.max(spacing, kept)
    or tail > now + longest or written < seen and seen <= now then
    next, tail, written = 0, 0, nil
    if seen > 0 or queue ~= '' then next = now + horizon + spacing end
end
local info = redis.pcall('INFO', 'server') -- a user may be forbidden to call it
local age = type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)')
local started, last = age and (time[1] - age) * 1000000 or 0, written or known
if last > 0 and last < started then -- within a second from then
    next = math.max(next, started + 1000000 + horizon + spacing)
end
if given_up > 0 and next == given_up + spacing then next = given_up end
if next < now then tail = 0 end
local at = math.max(now, next)
local first = tail <= at or (position > 0 and position - horizon <= now)
local due = first or given_up > 0 or not stays
local granted = due and at - now <= within
if granted then
    next = at + spacing
elseif stays and (due or position == 0) then
    position = math.max(tail, at)
    tail = position + spacing
end
local text = string.format('%.0f %.0f %.0f', next, tail, now)
local lifetime = (math.max(next, tail) - now + kept) / 1000
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', lifetime))
at = granted and at or position
return {granted and 1 or 0, string.format('%.0f', at), string.format('%.0f', now)}
"""


class RedisStore(RecordStore):
    """Keeps records at *url* under keys that begin with *prefix*.

    *url* names a server, or with *is_cluster* a node of a cluster; then all keys of an origin are
    in one hash slot. *timeout* bounds connecting and every call (seconds). Nothing is sent before
    the first call. May be called from any thread. Needs Redis 5 or newer.
    """

    def __init__(self, url: str, prefix: str, timeout: float, *, is_cluster: bool = False) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.cluster import RedisCluster
            from redis.retry import Retry
        except ImportError as error:
            raise ImportError(
                "it needs the Redis client: pip install 'scrapy-robotspec[redis]'"
            ) from error
        self._prefix = f"{prefix}:{_VERSION}:"
        self._is_cluster = is_cluster
        self._known = 0
        """The server's clock at the first reservation (microseconds)."""
        kind = RedisCluster if is_cluster else redis.Redis
        # A connection that a restart of the server broke is opened again at once.
        retry = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        times = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
        self._connect = partial(kind.from_url, url, retry=retry, **times)

    @cached_property
    def _client(self) -> Any:
        """The client; that of a cluster asks a node for the others as it is made."""
        return self._connect()

    def get(
        self, origin: Origin, agent: str = "", known: float | None = None
    ) -> RobotsRecord | None:
        return _read(self._run(_GET, self._keys(origin, "records"), agent, _stamp(known)), origin)

    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        """As in the contract, by the server's clock."""
        keys = self._keys(origin, "records", "lease")
        lease, longest = max(1, int(seconds * 1000)), int(LONGEST_LEASE * 1000)
        granted, *found = self._run(_CLAIM, keys, owner, lease, _stamp(known), agent, longest)
        if not found:
            return Claim(bool(granted))
        record = _read(found[0], origin)
        if record is None:
            self._run(_DISCARD, keys[:1], agent, found[0])
        return Claim(record is None, record)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        """As in the contract, in one round trip.

        The record is kept by its own times: no clock of ours is the server's.
        """
        keys = self._keys(record.origin, "records", "lease")
        value = _begin(record) + record.to_bytes()
        fresh_for = max((record.expires_at or 0.0) - record.updated_at, 0.0)
        lifetime = int(min(fresh_for + KEPT, LONGEST) * 1000)
        self._run(
            _PUT,
            keys,
            owner,
            value,
            lifetime,
            _stamp(known),
            record.agent or "",
            MAX_AGENTS,
            "" if record.failed_at is None else "failed",
        )

    def release(self, origin: Origin, owner: str) -> None:
        self._run(_RELEASE, self._keys(origin, "lease"), owner)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """As in the contract, by the server's clock."""
        arguments = _slot_arguments(asked, self._known)
        granted, at, now = self._run(_RESERVE, self._keys(origin, "line"), *arguments)
        self._known = self._known or int(now)
        return Reservation(bool(granted), int(at) / 1e6, int(now) / 1e6)

    def node_of(self, origin: Origin) -> str | None:
        if not self._is_cluster:
            return None
        from redis.exceptions import SlotNotCoveredError

        try:
            return str(self._client.get_node_from_key(*self._keys(origin, "lease")).name)
        except SlotNotCoveredError:
            return "none"

    def close(self) -> None:
        if "_client" in vars(self):
            self._client.close()

    def _keys(self, origin: Origin, *kinds: str) -> list[str]:
        """Keys of *origin*; a cluster places them by the part in braces."""
        return [f"{self._prefix}{{{origin}}}:{kind}" for kind in kinds]

    def _run(self, script: str, keys: Sequence[str], *arguments: str | bytes | int) -> Any:
        return self._client.execute_command("EVAL", script, len(keys), *keys, *arguments)


def _slot_arguments(asked: SlotRequest, known: int) -> list[int]:
    own = (min(asked.spacing, LONGEST), asked.position, asked.given_up, asked.within)
    times = (*own, HORIZON, QUEUE_KEPT, LONGEST, asked.seen)
    return [*(round(each * 1e6) for each in times), known]


def _stamp(time: float | None) -> bytes:
    """*time* as the server reads it; empty for none. A record is known by its ``updated_at``."""
    return b"" if time is None else struct.pack(">d", time)


def _begin(record: RobotsRecord) -> bytes:
    """The times before a record in its value."""
    copied, updated = map(_stamp, record.rank)
    return updated + copied


def _read(data: object, origin: Origin) -> RobotsRecord | None:
    """The record in a value whose times are the record's own."""
    if not isinstance(data, bytes):
        return None
    begin, magic, rest = data.partition(MAGIC)
    record = RobotsRecord.from_bytes(magic + rest, origin)
    is_own = record is not None and begin in (_begin(record), _stamp(record.updated_at))
    return record if is_own else None
