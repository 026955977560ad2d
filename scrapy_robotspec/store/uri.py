"""From the value of ``ROBOTSPEC_CACHE`` to a store.

The module of a back end is imported when a URI names it: no client library is needed otherwise.
"""

from __future__ import annotations

from os.path import dirname, isdir
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from scrapy_robotspec import converters
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.store import shown_uri
from scrapy_robotspec.store.base import RecordStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy_robotspec.store.memory import MemoryStore

_REDIS = (
    "use redis://host:port/0 or unix:///run/redis.sock, and escape '/', '?', '#' and '@' in a "
    "password (%2F)"
)
#: Least number of seconds, and largest number of records and of seconds (thirty years).
_LEAST, _MOST = 0.001, 1_000_000_000


def open_store(
    uri: str, schemes: Mapping[str, Callable[[str], object]] | None = None
) -> RecordStore | MemoryStore:
    """The store that *uri* names. It connects with its first call.

    ``memory://?max=N`` bounds the records in memory; ``sqlite:///relative.db`` and
    ``sqlite:////absolute.db`` take ``?timeout=S``; ``redis://[[user]:password@]host[:port][/db]``
    takes ``?prefix=P`` and ``timeout=S``, as do ``rediss://``, ``unix:///run/redis.sock``,
    ``redis+cluster://`` and ``rediss+cluster://``. *schemes* are the user's: each is called with
    *uri* and returns a ``RecordStore``. Raises ``ConfigurationError`` for anything else.
    """
    scheme = uri.partition(":")[0]
    own, opener = (schemes or {}).get(scheme), _OPENERS.get(scheme)
    try:
        if own is not None:
            store = own(uri)
            if not isinstance(store, RecordStore):
                raise ValueError(f"ROBOTSPEC_CACHE_SCHEMES must name a RecordStore, not {store!r}")
            return store
        if opener is None:
            raise ValueError(_remedy(uri))
        return opener(_split(uri))
    except Exception as error:
        raise ConfigurationError(f"ROBOTSPEC_CACHE = {shown_uri(uri)!r}: {error}") from error


def _remedy(uri: str) -> str:
    """Words about a URI with an unknown scheme."""
    if "://" not in uri and "." in uri:
        return f"use sqlite:///{uri}"
    return (
        "unknown kind of store, use memory://, sqlite:///robots.db, redis://localhost:6379/0 or a "
        "scheme of ROBOTSPEC_CACHE_SCHEMES. The cache cannot be switched off; ROBOTSPEC_CACHE_TTL "
        "and ROBOTSPEC_CACHE_MAX_TTL (seconds) make it short"
    )


def sqlite_file(uri: str) -> str:
    """The path of an SQLite store; empty for another kind."""
    return unquote(urlsplit(uri).path[1:]) if uri.startswith("sqlite:") else ""


def _split(uri: str) -> SplitResult:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:  # which may quote a password, whose raw slash ends the host too early
        raise ValueError(f"the part after :// is invalid; {_REDIS}") from None
    return parts


def _options(query: str, **defaults: Any) -> Iterator[Any]:
    """The values of the options in *query*, or their *defaults*, of the same type."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name, default in defaults.items():
        value = given.pop(name, default)
        if not isinstance(default, str):
            least = 1 if isinstance(default, int) else _LEAST
            wanted = f"{name}={value} is wrong, give a number from {least} to {_MOST:,}"
            value = converters.number(wanted, least, _MOST)(value)
        yield value
    for name in given:
        raise ValueError(f"unknown option {name!r}, use {' or '.join(defaults)}")


def _memory(parts: SplitResult) -> MemoryStore:
    from scrapy_robotspec.store.memory import MAX_RECORDS, MemoryStore

    (max_records,) = _options(parts.query, max=MAX_RECORDS)
    if parts.netloc or parts.path not in ("", "/"):
        raise ValueError("use memory:// or memory://?max=100000")
    return MemoryStore(int(max_records))


def _sqlite(parts: SplitResult) -> RecordStore:
    from scrapy_robotspec.store.sqlite import SqliteStore

    (timeout,) = _options(parts.query, timeout=5.0)
    path = unquote(parts.path[1:])
    has_slash = parts.path.startswith("/")  # sqlite:r.db has none
    if parts.netloc or not has_slash or not path or path == ":memory:":
        raise ValueError("use sqlite:///relative.db or sqlite:////absolute/path.db")
    if not isdir(dirname(path) or "."):
        raise ValueError(f"the directory {dirname(path)!r} does not exist, create it first")
    return SqliteStore(path, timeout)


def _redis(parts: SplitResult) -> RecordStore:
    from scrapy_robotspec.store.redis import RedisStore

    is_socket = parts.scheme == "unix"
    place, other = (parts.path[1:], parts.hostname) if is_socket else (parts.hostname, None)
    if not place or other or parts.fragment or "@" in f"{parts.path}{parts.query}":
        raise ValueError(_REDIS)
    scheme, _, cluster = parts.scheme.partition("+")
    prefix, timeout = _options(parts.query, prefix="robotspec", timeout=2.0)
    if not is_socket and not parts.path[1:].isdecimal() and parts.path not in ("", "/"):
        raise ValueError("the part after the host must be the number of a database")
    if cluster and parts.path not in ("", "/", "/0"):
        raise ValueError("a cluster has the database 0 alone")
    url = f"{scheme}://{parts.netloc}{parts.path}"
    return RedisStore(url, prefix, timeout, is_cluster=bool(cluster))


_OPENERS: dict[str, Callable[[SplitResult], RecordStore | MemoryStore]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    **dict.fromkeys(("redis", "rediss", "unix", "redis+cluster", "rediss+cluster"), _redis),
}
