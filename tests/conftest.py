"""Fixtures of all tests, and how many examples property tests try.

The examples are the same each time in CI, fresh ones elsewhere; the profile "long" tries many more.
They have no deadline: a slow machine is not a failure.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.uri import open_store
from tests.support.file_store import FileStore
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import RedisServer, need_redis
from tests.support.server import Server

_BASE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("here", _BASE, max_examples=20)
settings.register_profile("ci", _BASE, max_examples=20, derandomize=True)
settings.register_profile("long", _BASE, max_examples=1_000)
settings.load_profile(
    os.environ.get("ROBOTSPEC_PROFILE") or ("ci" if "CI" in os.environ else "here")
)


_TESTS = Path(__file__).parent
#: Folders of tests that compute; those of all others mostly wait for crawls.
_COMPUTING = ("spec", "unit")
#: Files that take longest (a minute or two each, one test after the other).
_LONGEST = (
    "random_crawls/test_random_crawls.py",
    "robustness/fleet/test_one_pace.py",
    "project/test_example.py",
    "crawl/test_redis_parking.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files first, and spread those that wait between those that compute.

    The processes of a run take the next file each. So both kinds run at any time, and no process
    has a long file left when the others have ended.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path.relative_to(_TESTS), []).append(item)
    places: dict[Path, float] = {}
    for kind in (True, False):
        group = [path for path in reversed(files) if (path.parts[0] in _COMPUTING) is kind]
        total, before = sum(len(files[path]) for path in group), 0
        for path in group:
            places[path] = before / total
            before += len(files[path])
    places.update(dict.fromkeys(map(Path, _LONGEST), -1.0))
    items[:] = [
        item for path in sorted(files, key=lambda each: places[each]) for item in files[path]
    ]


@pytest.fixture
def null_device(tmp_path: Path) -> Path:
    """A device of the test's own: a fault would replace ``/dev/null`` for the whole machine."""
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    return path


@pytest.fixture
def server() -> Iterator[Server]:
    """The sites of one test."""
    with Server() as running:
        yield running


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests; each uses a prefix of its own."""
    need_redis()
    with RedisServer(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of one test, which may stop it."""
    need_redis()
    with RedisServer(tmp_path) as running:
        yield running


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RedisCluster]:
    """A Redis cluster of one test."""
    need_redis()
    running = RedisCluster(tmp_path)
    running.start()
    yield running
    running.stop()


@pytest.fixture(params=["sqlite", "redis"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """ROBOTSPEC_CACHE of an empty store of each kind that processes share."""
    if request.param == "sqlite":
        # A disk that all tests write to can stall for longer than crawls wait by default.
        return f"sqlite:///{tmp_path}/robots.db?timeout=30"
    running: RedisServer = request.getfixturevalue("redis_server")
    return f"{running.uri}?prefix={tmp_path.name}"


@pytest.fixture(params=["sqlite", "redis", "own"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecordStore]:
    """An empty store of each kind, one of a user's own among them."""
    if request.param == "own":
        opened = open_store(f"file://{tmp_path}/robots.json", {"file": FileStore})
    elif request.param == "sqlite":
        opened = open_store(f"sqlite:///{tmp_path}/robots.db")
    else:
        running: RedisServer = request.getfixturevalue("redis_server")
        opened = open_store(f"{running.uri}?prefix={tmp_path.name}")
    assert isinstance(opened, RecordStore)
    yield opened
    opened.close()


@pytest.fixture
def myproject(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules that examples in the documentation name."""
    stores = ModuleType("myproject.stores")
    stores.PostgresStore = FileStore  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "myproject", ModuleType("myproject"))
    monkeypatch.setitem(sys.modules, "myproject.stores", stores)
