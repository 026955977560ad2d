"""Stores of each kind, for the tests of this folder."""

from tests.support.store_fixtures import redis_server, shared_uri, store, uri

__all__ = ["redis_server", "shared_uri", "store", "uri"]
