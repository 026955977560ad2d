"""From a value of ROBOTSPEC_CACHE to a store, or to a message that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.sqlite import SqliteStore
from scrapy_robotspec.store.uri import open_store
from tests.support.file_store import FileStore
from tests.support.records import origin, plain_record
from tests.support.stores import run_program


def test_memory_takes_a_bound() -> None:
    """memory://?max=N."""
    store = open_store("memory://?max=2")
    assert isinstance(store, MemoryStore)
    for number in range(5):
        store.put(plain_record(origin(number), 1.0))
    assert len(store._table.entries) == 2
    store.close()


def test_three_slashes_are_relative_and_four_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLAlchemy and Django users know it; escapes are read."""
    monkeypatch.chdir(tmp_path)
    for uri, path in [
        ("sqlite:///relative.db", tmp_path / "relative.db"),
        (f"sqlite:///{tmp_path}/absolute.db", tmp_path / "absolute.db"),
        ("sqlite:///with%20blank.db?timeout=0.5", tmp_path / "with blank.db"),
    ]:
        store = open_store(uri)
        assert isinstance(store, SqliteStore)
        assert store.get(origin(1)) is None
        store.close()
        assert path.exists()


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("", "unknown kind of store"),
        ("memory", "use memory://"),
        ("redis", "use redis://host:port/0"),
        ("False", "The cache cannot be switched off; ROBOTSPEC_CACHE_TTL and"),
        ("postgres://localhost/robots", "a scheme of ROBOTSPEC_CACHE_SCHEMES"),
        ("robots.db", "use sqlite:///robots.db"),
        ("/var/lib/robots.db", "use sqlite:////var/lib/robots.db"),
        ("memory://?max=0", "max=0 is wrong, give a number from 1 to 1,000,000,000"),
        ("memory://?max=0.5", "max=0.5 is wrong, give a number from 1 to"),
        ("memory://?max=many", "max=many is wrong, give a number from 1 to"),
        ("memory://?max=inf", "max=inf is wrong, give a number from 1 to"),
        (
            "sqlite:///robots.db?timeout=1e300",
            "timeout=1e300 is wrong, give a number from 0.001 to",
        ),
        ("memory://?maximum=5", "unknown option 'maximum', use max"),
        ("sqlite:///robots.db?max=5", "unknown option 'max', use timeout"),
        ("memory://somewhere", "use memory://"),
        ("sqlite://", "use sqlite:///relative.db"),
        ("sqlite://robots.db", "use sqlite:///relative.db"),
        ("sqlite:robots.db", "use sqlite:///relative.db"),
        ("sqlite:///", "use sqlite:///relative.db"),
        ("sqlite:///:memory:", "use sqlite:///relative.db"),
        (
            "sqlite:///no/such/directory/robots.db",
            "'no/such/directory' does not exist",
        ),
        ("sqlite:///robots.db?timeout=0", "timeout=0 is wrong, give a number from 0.001"),
        ("redis://localhost:notaport/0", "ROBOTSPEC_CACHE = 'redis://localhost:notaport/0'"),
        ("redis://localhost/0?ttl=5", "unknown option 'ttl', use prefix or timeout"),
        ("redis://localhost/zero", "the part after the host must be the number of a database"),
        ("redis+cluster://localhost/1", "a cluster has the database 0 alone"),
        ("redis://", "use redis://host:port/0"),
        ("redis://localhost:65536", "use redis://host:port/0"),
        ("unix://", "or unix:///run/redis.sock"),
        ("unix://run/redis.sock", "or unix:///run/redis.sock"),
        ("unix:///run/redis#1.sock", "and escape '/', '?', '#'"),
        ("redis://localhost/0#1", "and escape '/', '?', '#'"),
        ("unix:///run/redis.sock?db=1", "unknown option 'db', use prefix or timeout"),
        ("http://[::1/", "ROBOTSPEC_CACHE"),
    ],
)
def test_a_wrong_value_names_setting_value_and_remedy(uri: str, says: str) -> None:
    """It is the last line that a user sees."""
    with pytest.raises(ConfigurationError) as caught:
        open_store(uri)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"ROBOTSPEC_CACHE = {uri!r}")


def _fail(uri: str) -> RecordStore:
    raise OSError("no such host")


@pytest.mark.parametrize(
    ("own", "says"),
    [
        (dict, "ROBOTSPEC_CACHE = 'own://…@host': dictionary update sequence"),
        (len, "ROBOTSPEC_CACHE_SCHEMES must name a RecordStore, not 20"),
        (_fail, "ROBOTSPEC_CACHE = 'own://…@host': no such host"),
        (FileStore, ""),
    ],
)
def test_a_scheme_of_ones_own(own: Callable[[str], object], says: str) -> None:
    """A class or a function that is called with the URI."""
    if not says:
        assert isinstance(open_store("own://me:secret@host", {"own": own}), FileStore)
        return
    with pytest.raises(ConfigurationError) as caught:
        open_store("own://me:secret@host", {"own": own})
    assert says in str(caught.value)


@pytest.mark.parametrize("delimiter", ["/", "?", "#", "@"])
@pytest.mark.parametrize("user", ["", "me"])
def test_no_part_of_a_password_is_shown_where_it_contains_a_delimiter(
    user: str, delimiter: str
) -> None:
    """It must be escaped; until it is, its parts are read as the port and the path."""
    with pytest.raises(ConfigurationError) as caught:
        open_store(f"redis://{user}:front{delimiter}back@localhost:notaport/0")
    message = str(caught.value)
    assert "front" not in message
    assert "back" not in message
    assert "escape '/', '?', '#' and '@' in a password" in message


@pytest.mark.parametrize("scheme", ["redis", "rediss", "redis+cluster"])
def test_without_the_client_the_message_names_the_extra(scheme: str) -> None:
    """An optional dependency; the other stores do not need it."""
    program = (
        "import sys; sys.modules['redis'] = None\n"
        "from scrapy_robotspec.store.uri import open_store\n"
        "open_store('memory://').close()\n"
        f"open_store('{scheme}://localhost/0')\n"
    )
    last_line = run_program(program, check=False).stderr.strip().splitlines()[-1]
    assert "ConfigurationError: ROBOTSPEC_CACHE" in last_line
    assert last_line.endswith("pip install 'scrapy-robotspec[redis]'")


def test_opening_one_store_imports_no_other() -> None:
    """Start-up does not pay for what is not used."""
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"  # a measurement of coverage stores its data by sqlite3
        "from scrapy_robotspec.store.uri import open_store\n"
        "open_store('memory://')\n"
        "loaded = set(sys.modules) - before\n"
        "print(sorted({'redis', 'sqlite3', 'scrapy', 'twisted'} & loaded))\n"
    )
    assert run_program(program).stdout.strip() == "[]"
