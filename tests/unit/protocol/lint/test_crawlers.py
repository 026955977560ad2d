"""Names of crawlers: which are known, and which are taken for a misspelling of one."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lint.crawlers import (
    IGNORING,
    KNOWN_CRAWLERS,
    intended_crawler,
    is_known,
)

GOOGLE = EDITIONS["google-2019"]


@pytest.mark.parametrize("name", KNOWN_CRAWLERS)
def test_known_crawler_is_not_a_misspelling_of_another(name: str) -> None:
    """In any case, and with a version."""
    assert is_known(name.upper())
    for value in (name, name.lower(), f"{name}/2.1"):
        assert intended_crawler(value, GOOGLE) is None


@pytest.mark.parametrize("name", [name for name in KNOWN_CRAWLERS if len(name) > 9])
def test_long_name_with_a_letter_left_out_or_two_swapped_is_recognised(name: str) -> None:
    """Unless it is known itself; separators do not count."""
    for at in range(1, len(name) - 1):
        if name[at].isalnum() and name[at + 1].isalnum() and name[at] != name[at + 1]:
            swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
            for value in (name[:at] + name[at + 1 :], swapped):
                assert is_known(value) or intended_crawler(value, GOOGLE) == name


@pytest.mark.parametrize(
    "value", ["GPTBto", "Aplebot", "bingbott", "xbot", "examplebot", "a" * 500_000, "*", ""]
)
def test_short_and_other_names_are_names_of_their_own(value: str) -> None:
    assert intended_crawler(value, GOOGLE) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [("Anthropic", "ClaudeBot"), ("all bots/1.0", "*"), ("Google Bot", "Googlebot")],
)
def test_names_that_people_write_mean_a_crawler(value: str, name: str) -> None:
    """Also one that resembles no product token."""
    assert intended_crawler(value, GOOGLE) == name


def test_crawlers_that_ignore_robots_txt_are_found_in_lower_case() -> None:
    assert all(name == name.lower() for name in IGNORING)
