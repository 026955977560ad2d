"""A Redis cluster: all keys of an origin in one slot, and nodes that fail one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from twisted.python.failure import Failure

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.store.base import Claim, RecordStore, Reservation, SlotRequest
from tests.support.records import origin, plain_record
from tests.support.redis_cluster import RedisCluster
from tests.support.stores import open_shared_store, put, take
from tests.support.threads import Threads, result_of

pytest.importorskip("redis", reason="the Redis client is not installed")
from redis.exceptions import RedisClusterException, RedisError

NOW = 1_800_000_000.0
ORIGINS = [origin(number) for number in range(60)]


@pytest.fixture
def store(cluster: RedisCluster) -> Iterator[RecordStore]:
    opened = open_shared_store(f"{cluster.uri}?timeout=1")
    yield opened
    opened.close()


def by_node(store: RecordStore) -> dict[str | None, list[Origin]]:
    nodes = defaultdict(list)
    for each in ORIGINS:
        nodes[store.node_of(each)].append(each)
    return nodes


def test_records_leases_and_slots_of_all_nodes(store: RecordStore) -> None:
    """Each step of an origin stays atomic, wherever its slot is."""
    for each in ORIGINS:
        assert store.claim(each, "a", NOW, 30, None) == Claim(True)
        assert store.claim(each, "b", NOW, 30, None) == Claim(False)
        store.put(plain_record(each, NOW), "a", None)
        assert store.get(each) == plain_record(each, NOW)
        assert take(store, each, "b", NOW, 30)
        store.release(each, "b")
        assert store.reserve(each, SlotRequest(60.0)).granted
        assert not store.reserve(each, SlotRequest(60.0)).granted
    assert len(by_node(store)) == 3


def test_a_node_that_is_killed_takes_its_own_origins_alone(
    cluster: RedisCluster, store: RecordStore
) -> None:
    """They are crawled as without a store, the others as before."""
    for each in ORIGINS:
        put(store, plain_record(each, NOW))
    tiered = TieredStore(store, Threads(), lambda: 0.0, owner="us", lease_seconds=30)
    nodes = by_node(store)
    dead = f"127.0.0.1:{cluster.nodes[2].port}"
    cluster.nodes[2].stop()
    for node, origins in nodes.items():
        for each in origins:
            assert store.node_of(each) == node
            found = result_of(tiered.claim(each, NOW, None, ""))
            is_dead = node == dead
            assert found == (Claim(True) if is_dead else Claim(False, plain_record(each, NOW)))
            slots: list[object] = []
            tiered.reserve(each, SlotRequest(1.0)).addBoth(slots.append)
            assert isinstance(slots[0], Failure if is_dead else Reservation)
    assert all(nodes.values())


def test_a_process_that_begins_later_uses_the_nodes_that_live(cluster: RedisCluster) -> None:
    """Its first node has to live; it learns of the others from that one."""
    cluster.nodes[1].stop()
    store = open_shared_store(f"{cluster.uri}?timeout=1")
    works = 0
    for each in ORIGINS[:12]:
        try:
            put(store, plain_record(each, NOW))
        except (RedisError, RedisClusterException):
            continue
        assert store.get(each) == plain_record(each, NOW)
        works += 1
    store.close()
    assert 0 < works < 12
