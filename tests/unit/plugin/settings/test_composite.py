"""ROBOTSPEC_OVERRIDES: hosts are those of origins, values are checked at start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_robotspec.access.outcome import Meaning, StatusPolicy
from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.editions import EDITIONS, get_edition
from scrapy_robotspec.plugin.settings import composite
from scrapy_robotspec.plugin.settings.composite import (
    converter_of,
    file_of,
    overrides,
    token_source,
)
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.robotstxt import RobotsTxt


def test_a_class_of_a_host_wins_over_a_status_of_the_project() -> None:
    """FET-09: the host decides first, then the status, then its class."""
    edition = get_edition("google-2019")
    project: StatusPolicy = {403: Meaning.ALLOW, 503: Meaning.ALLOW, "2xx": Meaning.DISALLOW}
    policy = AccessPolicy(edition=edition, status_policy=project)
    own: StatusPolicy = {"4xx": Meaning.DISALLOW, 410: Meaning.ALLOW}
    assert Override(status_policy=own).adjust(policy).status_policy == {
        503: Meaning.ALLOW,
        "2xx": Meaning.DISALLOW,
        "4xx": Meaning.DISALLOW,
        410: Meaning.ALLOW,
    }


def read(raw: object, edition: str = "google-2019") -> dict[str, Override]:
    table = overrides(raw, EDITIONS[edition])
    assert table is not None
    return dict(zip(table.keys(), table.values(), strict=True))


@pytest.mark.parametrize("edition", ["google-2019", "classic"])
@pytest.mark.parametrize("text", ["User-agent: *\nDisallow: /x\n", "User-agent:*\rDisallow:/x"])
def test_a_text_is_the_robots_txt_of_the_host(text: str, edition: str) -> None:
    """It is read in the edition of the crawl."""
    override = read({"h": text}, edition)["h"]
    assert isinstance(override.replacement, RobotsTxt)
    assert override.replacement.edition is EDITIONS[edition]
    assert override.kinds == ("robots_txt",)
    assert not override.replacement.allowed("http://h/x", "foobot")
    assert override.replacement.allowed("http://h/y", "foobot")


def test_the_text_may_have_blanks_for_colons() -> None:
    """FMT-11: as Google reads it."""
    override = read({"h": "User-agent *\nDisallow /x"}, "google")["h"]
    assert isinstance(override.replacement, RobotsTxt)
    assert not override.replacement.allowed("http://h/x", "foobot")


@pytest.mark.parametrize("word", ["ignore", "disallow"])
def test_a_word_replaces_the_robots_txt(word: str) -> None:
    assert read({"h": word})["h"] == Override(replacement=word)  # type: ignore[arg-type]


def test_a_dict_changes_single_things() -> None:
    given = '{"h": {"status_policy": {"403": "disallow"}, "token": ["a"], "crawl_delay": "2"}}'
    override = read(given)["h"]
    assert override == Override(
        status_policy={403: Meaning.DISALLOW}, token=("a",), crawl_delay=2.0
    )
    assert override.kinds == ("status_policy", "token", "crawl_delay")


def test_an_empty_dict_overrides_nothing() -> None:
    assert overrides({}, EDITIONS["google-2019"]) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("ingore", "'ignore', 'disallow'"),
        (None, "'ignore', 'disallow'"),
        ("Disallow: /cart\nAllow: /x", "User-agent line"),
        (b"User-agent: *", "'ignore', 'disallow'"),
        ({}, "'status_policy', 'token', 'crawl_delay'"),
        ({"tokens": "foobot"}, "'status_policy', 'token', 'crawl_delay'"),
        ({"token": "foo bot"}, "as 'token' a product token"),
        ({"crawl_delay": -1}, "as 'crawl_delay' a number of seconds"),
        ({"status_policy": {403: "no"}}, "as 'status_policy' a dict"),
    ],
    ids=repr,
)
def test_a_wrong_value_is_named_with_its_host(value: object, words: str) -> None:
    with pytest.raises(ValueError, match="for 'h' ") as caught:
        read({"h": value})
    assert words in str(caught.value)


def test_the_table_has_the_fields_without_a_converter_of_their_own() -> None:
    usual = EDITIONS["google-2019"]
    fields = [each for each in Settings.names().values() if each.metadata["convert"] is None]
    tables = [*composite._CONVERTERS, *composite._BY_EDITION]
    assert sorted(tables) == sorted(each.name for each in fields)
    assert converter_of("usage", usual)("train-ai") == ("train-ai",)
    given = "User-agent: *\nDisallow /x"  # only one edition reads the rule
    for edition in (usual, EDITIONS["google"]):
        table = converter_of("overrides", edition)({"h": given})
        (override,) = table.values()
        assert override.replacement.edition is edition


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("r.jsonl", "r.jsonl"),
        ("{name}-{time}.jsonl", "shop-2001-09-09T01-46-40+00-00.jsonl"),
        ("%(name)s-%(time)s.jsonl", "shop-2001-09-09T01-46-40+00-00.jsonl"),
        ("{unknown}%(batch_id)d.jsonl", "1.jsonl"),
    ],
)
@pytest.mark.parametrize("is_uri", [False, True])
def test_placeholders_of_a_path_are_those_of_scrapys_feeds(
    tmp_path: Path, path: str, expected: str, is_uri: bool
) -> None:
    """The report of a crawl never overwrites one of its feeds."""
    given = f"{'file://' if is_uri else ''}{tmp_path}/{path}"
    spider = SimpleNamespace(name="shop")
    assert file_of(given, spider, 1e9 + 0.5) == str(tmp_path.resolve() / expected)


async def coroutine(request: Any, crawler: Any) -> str:
    return "examplebot"


async def asynchronous(request: Any, crawler: Any) -> AsyncIterator[str]:
    yield "examplebot"


def generator(request: Any, crawler: Any) -> Iterator[str]:
    yield "examplebot"


class Called:
    """An object that is called as *function*."""

    def __init__(self, function: Any) -> None:
        self.__class__ = type("Own", (Called,), {"__call__": staticmethod(function)})


@pytest.mark.parametrize("function", [coroutine, asynchronous, generator])
def test_a_function_that_does_not_return_tokens_at_once_is_refused(function: Any) -> None:
    for each in (function, Called(function)):
        with pytest.raises(ValueError, match="without 'async' and 'yield'"):
            token_source(each, EDITIONS["google-2019"])
