"""Stores that processes share, for the tests of this folder."""

from tests.support.store_fixtures import redis_server, shared_uri

__all__ = ["redis_server", "shared_uri"]
