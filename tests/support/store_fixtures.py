"""Fixtures: stores of each kind on their real back ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.store import open_shared_store
from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.store.base import RecordStore


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests; each uses a prefix of its own."""
    if not is_installed():
        pytest.skip(NOT_FOUND)
    pytest.importorskip("redis", reason="the Redis client is not installed")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "redis"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A value of ROBOTSPEC_CACHE for an empty store of each kind."""
    return _uri(request, tmp_path)


@pytest.fixture(params=["sqlite", "redis"])
def shared_uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """ROBOTSPEC_CACHE of an empty store that processes and threads share."""
    return _uri(request, tmp_path)


def _uri(request: pytest.FixtureRequest, directory: Path) -> str:
    if request.param == "memory":
        return "memory://"
    if request.param == "sqlite":
        return f"sqlite:///{directory}/robots.db"
    server: RedisServer = request.getfixturevalue("redis_server")
    return f"{server.uri}?prefix={directory.name}"


@pytest.fixture
def store(uri: str) -> Iterator[RecordStore]:
    """An empty store of each kind."""
    opened = open_shared_store(uri)
    yield opened
    opened.close()
