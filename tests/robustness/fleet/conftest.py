"""Stores that a fleet of crawl processes shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed
from tests.support.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[Server]:
    """The sites of one test."""
    with Server() as running:
        yield running


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of its own for one test, which may break it."""
    if not is_installed():
        pytest.skip(NOT_FOUND)
    pytest.importorskip("redis", reason="the Redis client is not installed")
    running = RedisServer(tmp_path)
    running.start()
    yield running
    running.stop()


@pytest.fixture(params=["sqlite", "redis"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A value of ROBOTSPEC_CACHE that several processes share."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/robots.db"
    running: RedisServer = request.getfixturevalue("redis")
    return running.uri
