"""From the value of ``ROBOTSPEC_CACHE`` to a store.

The module of a back end is imported when a URI names it: no client library is needed otherwise.
"""

from __future__ import annotations

from os.path import dirname, isdir
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, unquote, urlsplit

from scrapy_robotspec import converters
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.store import shown_uri
from scrapy_robotspec.store.base import RecordStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from urllib.parse import SplitResult

    from scrapy_robotspec.store.memory import MemoryStore

#: Largest number of records, and of seconds (thirty years).
_MOST = 1_000_000_000

_EXAMPLES = "memory://, sqlite:///robots.db, redis://localhost:6379/0"


def open_store(uri: str) -> RecordStore | MemoryStore:
    """The store that *uri* names: ``memory://``, ``sqlite://``, ``redis://`` or ``rediss://``.

    ``memory://?max=N`` bounds the records in memory; ``sqlite:///relative.db`` and
    ``sqlite:////absolute.db`` take ``?timeout=S``; ``redis://[[user]:password@]host[:port][/db]``
    takes ``?prefix=P`` and ``timeout=S``, as do ``redis+cluster://`` and ``rediss+cluster://``.
    Raises ``ConfigurationError`` for anything else, and ``StoreError`` if the back end cannot be
    opened.
    """
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        _fail(uri, str(error))
    opener = _OPENERS.get(parts.scheme)
    if opener is None:
        _fail(uri, "unknown kind of store")
    return opener(uri, parts)


def open_shared_store(uri: str) -> RecordStore:
    """The store that *uri* names, for several processes; as :func:`open_store`."""
    store = open_store(uri)
    if not isinstance(store, RecordStore):
        _fail(uri, "processes do not share it")
    return store


def _options(uri: str, query: str, **defaults: Any) -> Iterator[Any]:
    """The values of the options in *query*, or their *defaults*, of the same type."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name, default in defaults.items():
        value = given.pop(name, default)
        yield value if isinstance(default, str) else _number(uri, name, value)
    for name in given:
        _fail(uri, f"unknown option {name!r}")


def _number(uri: str, name: str, value: object) -> float:
    wanted = f"a number above 0 up to {_MOST:,}"
    try:
        return converters.number(wanted, 0, _MOST, above=True)(value)
    except ValueError:
        _fail(uri, f"{name}={value} is wrong, give {wanted}")


def _memory(uri: str, parts: SplitResult) -> MemoryStore:
    from scrapy_robotspec.store.memory import MAX_RECORDS, MemoryStore

    (max_records,) = _options(uri, parts.query, max=MAX_RECORDS)
    if parts.netloc or parts.path not in ("", "/") or max_records < 1:
        _fail(uri, "use memory:// or memory://?max=100000")
    return MemoryStore(int(max_records))


def _sqlite(uri: str, parts: SplitResult) -> RecordStore:
    from scrapy_robotspec.store.sqlite import SqliteStore

    (timeout,) = _options(uri, parts.query, timeout=5.0)
    path = unquote(parts.path[1:])
    has_slash = parts.path.startswith("/")  # sqlite:r.db has none
    if parts.netloc or not has_slash or not path or path == ":memory:":
        _fail(uri, "use sqlite:///relative.db or sqlite:////absolute/path.db")
    if not isdir(dirname(path) or "."):
        _fail(uri, f"the directory {dirname(path)!r} does not exist, create it first")
    return SqliteStore(path, timeout)


def _redis(uri: str, parts: SplitResult) -> RecordStore:
    from scrapy_robotspec.store.redis import RedisStore

    if not _has_host_and_port(parts):
        _fail(uri, "use redis://host:port/0, and escape '/', '?', '#' and '@' in a password (%2F)")
    is_cluster = parts.scheme.endswith("+cluster")
    prefix, timeout = _options(uri, parts.query, prefix="robotspec", timeout=2.0)
    if not parts.path[1:].isdecimal() and parts.path not in ("", "/"):
        _fail(uri, "the part after the host must be the number of a database")
    if is_cluster and parts.path not in ("", "/", "/0"):
        _fail(uri, "a cluster has the database 0 alone")
    scheme = parts.scheme.removesuffix("+cluster")
    url = parts._replace(scheme=scheme, query="").geturl()
    return RedisStore(url, prefix, timeout, is_cluster=is_cluster)


def _has_host_and_port(parts: SplitResult) -> bool:
    """Whether a URI names a host, and no port or a valid one.

    A raw slash in a password ends the host too early: an error would quote the password as a port.
    """
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return False
    try:
        _ = parts.port
    except ValueError:
        return False
    return parts.hostname is not None


_OPENERS: dict[str, Callable[[str, SplitResult], RecordStore | MemoryStore]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "redis": _redis,
    "rediss": _redis,
    "redis+cluster": _redis,
    "rediss+cluster": _redis,
}


def _fail(uri: str, why: str) -> NoReturn:
    raise ConfigurationError(f"ROBOTSPEC_CACHE = {shown_uri(uri)!r}: {why} (examples: {_EXAMPLES})")
