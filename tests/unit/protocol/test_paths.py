"""Where the path of a URL begins (PAT-01, PAT-08)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.extent import _IN_URL, as_in_url
from scrapy_robotspec.protocol.paths import base_of, path_of
from tests.unit.protocol.strategies import (
    urls,
)


@pytest.mark.parametrize("name", EDITIONS)
@given(url=urls, tail=st.text(st.sampled_from("/?#;:ab%"), max_size=6))
def test_the_path_of_another_url_begins_at_the_same_slash(name: str, url: str, tail: str) -> None:
    """PAT-01, PAT-08: what is remembered of one URL holds for every other that begins alike."""
    base = base_of(url)
    if base:
        other = base + tail
        assert path_of(other, EDITIONS[name]) == path_of("http://x/" + tail, EDITIONS[name])


@given(st.text(st.sampled_from([*map(chr, _IN_URL), "a", "/", "*", "$", "%", " "])))
def test_a_path_has_no_private_character_in_a_url(path: str) -> None:
    """Printable paths, which are left as they are, have none either."""
    expected = "".join(_IN_URL.get(ord(letter), letter) for letter in path)
    assert as_in_url(path) == expected
