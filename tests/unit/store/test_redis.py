"""Redis alone, with a real server: expiry, garbage, losing and finding it again."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.store.base import (
    HORIZON,
    Claim,
    RecordStore,
    SlotQueue,
    SlotRequest,
    reserve,
)
from scrapy_robotspec.store.redis import _RESERVE, _slot_arguments
from tests.support.records import ORIGIN, origin, plain_record, record
from tests.support.redis_server import RedisServer, free_port, need_redis
from tests.support.stores import open_shared_store, put, run_program, take
from tests.support.threads import Threads, result_of
from tests.support.tls import write_certificate

pytest.importorskip("redis", reason="the Redis client is not installed")
import redis
from redis.exceptions import RedisClusterException

NOW = 1_800_000_000.0
DAY = 86_400
KEY = "robotspec:2:{http://example.com}:records"
LEASE = "robotspec:2:{http://example.com}:lease"
LINE = "robotspec:2:{http://example.com}:line"
#: Seconds around the time at which a slot is asked for, 50.
TIMES = st.integers(1, 100)
#: What may be in a line: times, and numbers that cannot be one.
WRITTEN = TIMES | st.sampled_from([4000, 10**9, 10**10, 10**300])


@pytest.fixture
def server(own_redis: RedisServer) -> RedisServer:
    """A server of the test's own, which it may stop."""
    return own_redis


@pytest.fixture
def store(server: RedisServer) -> Iterator[RecordStore]:
    opened = open_shared_store(f"{server.uri}?timeout=0.5")
    yield opened
    opened.close()


@pytest.fixture
def client(server: RedisServer) -> Iterator[redis.Redis]:
    """A look past the store."""
    own = redis.Redis.from_url(server.uri)
    yield own
    own.close()


def test_stores_with_different_prefixes_do_not_meet(server: RedisServer) -> None:
    """Whatever characters the prefix has."""
    one, other = (open_shared_store(f"{server.uri}?prefix={p}") for p in ("a*", "ab"))
    put(other, record())
    assert one.get(ORIGIN) is None
    put(one, plain_record(ORIGIN, NOW))
    assert other.get(ORIGIN) == record()
    one.close()
    other.close()


def test_a_server_is_reached_by_its_socket_file(tmp_path: Path) -> None:
    """Its administrator may have closed all ports; user name and password stay what they are."""
    path = tmp_path / "redis.sock"
    need_redis()
    with RedisServer(tmp_path, "--unixsocket", str(path), "--requirepass", "a/b"):
        store = open_shared_store(f"unix://:a%2Fb@{path}?prefix=own")
        put(store, record())
        assert store.get(ORIGIN) == record()
        store.close()


def test_the_server_forgets_long_after_the_record_has_run_out(
    store: RecordStore, client: redis.Redis
) -> None:
    """CAC-02: a last good copy may count for weeks, and no clock of ours is the server's."""
    put(store, plain_record(ORIGIN, NOW))
    assert 60 * DAY < client.ttl(KEY) <= 61 * DAY


def test_no_record_is_kept_for_ever_where_its_end_is_refused(
    server: RedisServer, client: redis.Redis
) -> None:
    """By the rights of a user, or a proxy in front of the server."""
    rights = ["~*", "+@all", "-pexpire"]
    client.execute_command("ACL", "SETUSER", "own", "on", ">secret", *rights)  # type: ignore[no-untyped-call]
    limited = open_shared_store(server.uri.replace("//", "//own:secret@"))
    with pytest.raises(redis.ResponseError):
        put(limited, record())
    assert client.keys() == []
    limited.close()


def test_a_record_that_is_known_is_not_sent_again(store: RecordStore, client: redis.Redis) -> None:
    """A process that waits for another one asks every two seconds."""
    put(store, record(body=bytes(100_000)))
    sent = client.info("stats")["total_net_output_bytes"]
    assert store.get(ORIGIN, "", record().updated_at) is None
    assert client.info("stats")["total_net_output_bytes"] < sent + 10_000
    assert store.get(ORIGIN, "", 1.0) == record(body=bytes(100_000))


def test_a_copy_that_is_fresh_for_ages_can_be_kept(store: RecordStore) -> None:
    """ROBOTSPEC_CACHE_TTL has no upper end, Redis' clock has."""
    endless = replace(record(), expires_at=1e30)
    put(store, endless)
    assert store.get(ORIGIN) == endless


def test_a_lease_ends_by_the_servers_clock(store: RecordStore, client: redis.Redis) -> None:
    """CAC-05: machines' clocks may differ."""
    assert take(store, ORIGIN, "a", NOW, 30)
    assert 25_000 < client.pttl(LEASE) <= 30_000
    assert not take(store, ORIGIN, "b", NOW + 3600, 30)
    client.pexpire(LEASE, 0)
    assert take(store, ORIGIN, "b", NOW, 30)


@pytest.mark.parametrize(
    "garbage", [b"", b"garbage", b"\xff" * 1000, b"RSPC\x02" + b"\0" * 40, b"RSPC"]
)
def test_garbage_reads_as_a_miss_and_is_written_over(
    store: RecordStore, client: redis.Redis, garbage: bytes
) -> None:
    """A foreign value costs a fetch and nothing else."""
    client.hset(KEY, "", garbage)
    assert store.get(ORIGIN) is None
    assert store.claim(ORIGIN, "a test", NOW, 30, None) == Claim(True)
    put(store, record())
    assert store.get(ORIGIN) == record()


def test_a_record_under_anothers_key_reads_as_a_miss(
    store: RecordStore, client: redis.Redis
) -> None:
    """LOC-02: no origin's rules for another."""
    put(store, record())
    client.copy(KEY, "robotspec:2:{http://other.example}:records")
    assert store.get(type(ORIGIN)("http", "other.example", 80)) is None


def test_a_value_of_an_earlier_build_is_read_and_written_over(
    store: RecordStore, client: redis.Redis
) -> None:
    """It has one time; a fleet is not stopped for an upgrade."""
    put(store, record())
    (value,) = client.hvals(KEY)
    assert isinstance(value, bytes)
    client.hset(KEY, "", value[:8] + value[16:])
    assert store.get(ORIGIN) == record()
    later = replace(record(), fetched_at=record().updated_at + 1)
    put(store, later)
    assert store.get(ORIGIN) == later


def test_a_key_of_another_type_is_a_miss_and_then_ours(
    store: RecordStore, client: redis.Redis
) -> None:
    """A list where a string should be is garbage as well."""
    client.lpush(KEY, "x")
    client.lpush(LEASE, "x")
    assert store.get(ORIGIN) is None
    assert take(store, ORIGIN, "me", NOW, 30)
    put(store, record())
    assert store.get(ORIGIN) == record()


def test_a_flushed_server_is_an_empty_one(store: RecordStore, client: redis.Redis) -> None:
    """In mid-crawl; its scripts are gone too."""
    put(store, record())
    assert take(store, ORIGIN, "a", NOW, 30)
    client.flushall()
    client.script_flush()
    assert store.get(ORIGIN) is None
    assert take(store, ORIGIN, "b", NOW, 30)


def test_a_stopped_server_is_an_error_and_a_started_one_works(
    store: RecordStore, server: RedisServer
) -> None:
    """The same store finds it again."""
    put(store, record())
    server.stop()
    for call in (
        lambda: store.get(ORIGIN),
        lambda: put(store, record()),
        lambda: take(store, ORIGIN, "a", NOW, 30),
        lambda: store.release(ORIGIN, "a"),
        lambda: store.reserve(ORIGIN, SlotRequest(1.0)),
    ):
        with pytest.raises(redis.RedisError):
            call()
    server.start()
    assert store.get(ORIGIN) is None
    put(store, record())
    assert store.get(ORIGIN) == record()


def test_a_restarted_server_goes_unnoticed(store: RecordStore, server: RedisServer) -> None:
    """Broken connections are opened again within the call."""
    put(store, record())
    server.stop()
    server.start()
    assert store.get(ORIGIN) is None


def test_a_server_that_hung_mixes_no_answers_up(store: RecordStore, server: RedisServer) -> None:
    """LOC-02: what it says late is not taken for the answer to a later question."""
    other = type(ORIGIN)("http", "other.example", 80)
    put(store, record())
    put(store, plain_record(other, NOW))
    server.signal(signal.SIGSTOP)
    for _ in range(3):
        with pytest.raises(redis.RedisError):
            store.get(ORIGIN)
    server.signal(signal.SIGCONT)
    assert store.get(other) == plain_record(other, NOW)
    assert store.get(ORIGIN) == record()


class Silent:
    """A listening socket that answers nothing; with *backlog* 0 it accepts nothing either."""

    def __init__(self, backlog: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self._listener.getsockname()[1]
        self._waiting = [] if backlog else [self._connect() for _ in range(4)]

    def _connect(self) -> socket.socket:
        """A connection that takes a place of the backlog."""
        taken = socket.socket()
        taken.setblocking(False)
        with suppress(BlockingIOError):
            taken.connect(("127.0.0.1", self.port))
        return taken

    def close(self) -> None:
        for each in (self._listener, *self._waiting):
            each.close()


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
@pytest.mark.parametrize("backlog", [0, 5], ids=["connects to nothing", "reads nothing"])
def test_a_server_that_never_answers_holds_no_call_for_ever(
    scheme: str, backlog: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``timeout`` bounds connecting and reading: a thread that waits without an end is lost."""
    silent, limits = Silent(backlog), set[float | None]()
    set_timeout = socket.socket.settimeout

    def note(own: socket.socket, seconds: float | None) -> None:
        limits.add(seconds)
        set_timeout(own, seconds)

    monkeypatch.setattr(socket.socket, "settimeout", note)
    store = open_shared_store(f"{scheme}://127.0.0.1:{silent.port}/0?timeout=0.125")
    with pytest.raises((redis.RedisError, RedisClusterException)):
        store.get(ORIGIN)
    assert limits == {0.125}
    silent.close()


def test_a_password_is_used_and_never_shown(tmp_path: Path) -> None:
    """redis://:password@host."""
    need_redis()
    with RedisServer(tmp_path, "--requirepass", "secret") as server:
        host = f"127.0.0.1:{server.port}"
        known = open_shared_store(f"redis://:secret@{host}/0")
        put(known, record())
        known.close()
        for uri in (f"redis://{host}/0", f"redis://:hidden@{host}/0"):
            unknown = open_shared_store(uri)
            with pytest.raises(redis.RedisError) as caught:
                unknown.get(ORIGIN)
            assert "hidden" not in str(caught.value)
            unknown.close()


def test_rediss_is_encrypted_and_the_server_has_to_prove_itself(tmp_path: Path) -> None:
    """rediss://…, with a certificate of one's own in SSL_CERT_FILE, as for all of OpenSSL."""
    need_redis()
    port, pem = free_port(), str(write_certificate(tmp_path / "own.pem", IPv4Address("127.0.0.1")))
    options = ["--tls-port", str(port), "--tls-auth-clients", "no"]
    files = ["--tls-cert-file", pem, "--tls-key-file", pem, "--tls-ca-cert-file", pem]
    with RedisServer(tmp_path, *options, *files):
        uri = f"rediss://127.0.0.1:{port}/0"
        assert put_and_get(uri, trusting=pem) == "True"
        assert put_and_get(uri, trusting="").startswith("refused")


def put_and_get(uri: str, trusting: str) -> str:
    """In a process of its own: OpenSSL reads its environment once."""
    program = (
        "import sys, redis\n"
        "from scrapy_robotspec.store.uri import open_store\n"
        "from tests.support.records import ORIGIN, record\n"
        "store = open_store(sys.argv[1])\n"
        "try: store.put(record(), 'me', None); print(store.get(ORIGIN) == record())\n"
        "except redis.ConnectionError as error: print('refused', error)\n"
    )
    return run_program(program, uri, SSL_CERT_FILE=trusting).stdout.strip()


def test_opening_says_nothing_to_the_server() -> None:
    """A crawl starts whether or not Redis is there."""
    open_shared_store("redis://127.0.0.1:1/0").close()


def test_a_full_redis_that_still_reads_does_not_work_again(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has one line when it fails, and one when it stores a record again."""
    caplog.set_level("INFO")
    clock = iter(range(0, 1000, 10))  # so every call comes after the pause
    shared = TieredStore(
        open_shared_store(server.uri),
        Threads(),
        lambda: float(next(clock)),
        owner="me",
        lease_seconds=1,
    )
    with redis.Redis(port=server.port) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 1)
        for _ in range(3):
            shared.share(record(), None)
            assert result_of(shared.get_shared(ORIGIN, None, "")) is None
        assert [entry.levelname for entry in caplog.records] == ["WARNING"]
        client.config_set("maxmemory", 0)
    shared.share(record(), None)
    shared.close()
    assert [entry.levelname for entry in caplog.records] == ["WARNING", "INFO"]


def calls_of(client: redis.Redis) -> int:
    """Commands that clients have sent, all of them scripts."""
    calls: int = client.info("commandstats").get("cmdstat_eval", {}).get("calls", 0)
    return calls


def test_a_fetched_origin_takes_two_calls_and_a_known_one_takes_one(
    store: RecordStore, client: redis.Redis
) -> None:
    before = calls_of(client)
    assert store.claim(ORIGIN, "a", NOW, 30, None).granted
    store.put(record(), "a", None)
    assert calls_of(client) - before == 2
    assert store.claim(ORIGIN, "b", NOW, 30, None).record == record()
    assert calls_of(client) - before == 3


@pytest.mark.parametrize("agent", ["", "abot"])
def test_a_record_with_another_time_than_its_own_is_absent(
    store: RecordStore, client: redis.Redis, agent: str
) -> None:
    """SAF-05: no process asks for it again and again."""
    value = b"\x41\xda" + b"\7" * 6 + replace(record(), agent=agent or None).to_bytes()
    client.hset(KEY, agent, value)
    assert store.get(ORIGIN, "abot") is None
    before = calls_of(client)
    assert store.claim(ORIGIN, "a", NOW, 30, NOW, "abot") == Claim(True)
    assert calls_of(client) - before <= 3
    assert not client.hexists(KEY, agent)


@pytest.mark.parametrize("garbage", [b"", b"garbage", b"9" * 40, b"9 9 9 9", b"\xff" * 100])
def test_garbage_in_a_line_stops_no_worker(
    store: RecordStore, client: redis.Redis, garbage: bytes
) -> None:
    """SAF-05: another spacing is the most that it costs."""
    client.set(LINE, garbage)
    reply = store.reserve(ORIGIN, SlotRequest(0.1))
    assert reply.at <= reply.now + HORIZON + 0.2


def test_lines_expire_by_themselves(store: RecordStore, client: redis.Redis) -> None:
    """An hour after their end."""
    for _ in range(2):
        store.reserve(ORIGIN, SlotRequest(7200.0))
    assert 3600 + 14_300 < client.ttl(LINE) <= 3600 + 14_400


@pytest.mark.parametrize("is_saved", [False, True], ids=["", "saved"])
def test_slots_of_the_server_before_a_restart_are_kept(
    own_redis: RedisServer, is_saved: bool
) -> None:
    """EXT-01: an old line, or none, says nothing of them, to processes new at the origin, too."""
    running = open_shared_store(own_redis.uri)
    running.reserve(origin(1), SlotRequest(0.1))
    if is_saved:
        running.reserve(ORIGIN, SlotRequest(0.1))
        with redis.Redis.from_url(own_redis.uri) as client:
            client.save()
    time.sleep(1.1)
    own_redis.stop()
    own_redis.start()
    began = time.time()
    asking = open_shared_store(own_redis.uri) if is_saved else running
    reply = asking.reserve(ORIGIN, SlotRequest(60.0))
    assert not reply.granted
    assert began + 59 + HORIZON < reply.at < began + 62 + HORIZON
    asking.close()
    running.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    line=st.none() | st.tuples(WRITTEN, st.just(0) | WRITTEN, WRITTEN),
    spacing=st.integers(1, 100),
    position=st.just(0) | TIMES,
    given_up=st.just(0) | TIMES,
    within=st.sampled_from([0.05, HORIZON]),
    seen=st.just(0) | TIMES,
    known=st.just(0) | TIMES,
)
def test_the_script_reserves_as_the_other_stores_do(
    client: redis.Redis, line: tuple[int, int, int] | None, known: int, **asked: Any
) -> None:
    """EXT-01: one arithmetic in two languages, at 50 seconds after some time."""
    text = _RESERVE.replace("redis.call('TIME')", "{'50', '0'}")
    script = client.register_script(text.replace("redis.pcall('INFO', 'server')", "nil"))
    client.delete(LINE)
    if line is not None:
        client.set(LINE, " ".join(str(each * 10**6) for each in line))
    request = SlotRequest(**{name: type(value)(value) for name, value in asked.items()})
    granted, at, _ = script([LINE], _slot_arguments(request, known * 10**6))
    new, reply = reserve(None if line is None else SlotQueue(*line), 50.0, request)
    assert (bool(granted), int(at) / 1e6) == (reply.granted, reply.at)
    stored = client.get(LINE)
    assert isinstance(stored, bytes)
    assert tuple(int(each) / 1e6 for each in stored.split()) == new


def test_a_lease_without_an_expiry_stands_in_nobodys_way(
    store: RecordStore, client: redis.Redis
) -> None:
    """CAC-05: a restored or foreign key must not hold an origin for ever."""
    client.set(LEASE, "killed")
    assert store.claim(ORIGIN, "a", NOW, 30, None) == Claim(True)
    assert store.claim(ORIGIN, "b", NOW, 30, None) == Claim(False)
