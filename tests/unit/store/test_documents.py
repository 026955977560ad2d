"""``docs/scaling.md``: every store, option and figure of the code that it names is there."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.store import uri as store_uri
from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.redis import RedisStore
from scrapy_robotspec.store.uri import open_store
from tests.support.file_store import FileStore

PAGE = (Path(__file__).parents[3] / "docs" / "scaling.md").read_text("utf-8")


#: Not the bare schemes of headings.
VALUES = sorted(set(re.findall(r'[`"](memory://[^`"]*|\w+:///?/?\w[^`"]*)[`"]', PAGE)))


@pytest.mark.parametrize("uri", VALUES)
def test_every_value_on_the_page_opens_a_store(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is misspelled."""
    if uri.startswith("redis"):
        pytest.importorskip("redis", reason="the Redis client is not installed")
    monkeypatch.chdir(tmp_path)
    open_store(uri.replace("/tmp/", f"{tmp_path}/"), {"postgres": FileStore}).close()


def test_the_page_names_every_scheme_and_option() -> None:
    """As the opener of each scheme asks for them."""
    source = inspect.getsource(store_uri)
    options = {
        option.arg
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "_options"
        for option in call.keywords
    }
    assert options == {"max", "timeout", "prefix"}
    for word in (*store_uri._OPENERS, *options):
        assert f"`{word}" in PAGE


def test_the_page_counts_the_contract() -> None:
    """The author of another store wants to know how much it is."""
    assert len(RecordStore.__abstractmethods__) == 6
    assert "six short methods" in " ".join(PAGE.split())


def test_the_keys_on_the_page_are_the_keys_in_redis() -> None:
    """Operators look for them."""
    pytest.importorskip("redis", reason="the Redis client is not installed")
    store = RedisStore("redis://localhost", "PREFIX", 1)
    for key in store._keys(Origin("http", "a.example", 80), "records", "lease", "line"):
        assert f"`{key}`" in PAGE
    store.close()
