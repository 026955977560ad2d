"""Whatever stands in a setting: it is read, or a ConfigurationError names it. Nothing else happens.

And whatever stands in a User-Agent header or comes back from a token function.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings as ScrapySettings

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.agents import product_tokens

NUMBERS = ["0", "1", "-1", "429", "1e999", "nan", "inf"]
SYNTAX = ["", " ", ",", "*", "[", "{", "[]", "{}", '"x"', "\ud800", "\0"]
NAMES = ["a.b", "os.path", "json.loads", "foo/1", "example.com", "None", "true"]
KNOWN = ["allow", "ignore", "google", "base", "name", "token", "crawl_delay", "status_policy"]
WORDS = st.sampled_from(NUMBERS + SYNTAX + NAMES + KNOWN)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(),
    st.binary(max_size=3),
    st.text(max_size=5),
    WORDS,
    st.just(object()),
    st.just(10**400),
    st.just(Decimal("sNaN")),
)
KEYS = st.one_of(WORDS, st.integers(0, 700), st.text(max_size=3), st.none(), st.booleans())
JUNK = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.sets(st.integers(), max_size=2),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", Settings.names())
@given(raw=JUNK)
def test_a_value_is_read_or_named(name: str, raw: Any) -> None:
    message = f"{name} = … is wrong: give …"
    try:
        Settings.from_scrapy(ScrapySettings({name: raw}))
    except ConfigurationError as error:
        message = str(error)
    assert re.fullmatch(f"{name} = .+ is wrong: give .+", message, re.DOTALL)


@given(JUNK, st.sampled_from(list(EDITIONS.values())))
def test_what_is_given_as_token_is_one_or_is_refused(value: Any, edition: Any) -> None:
    try:
        tokens = product_tokens(value, edition)
    except ValueError:
        return
    for token in tokens:
        assert token == token.strip() != ""
        assert edition.whole_agent_names or re.fullmatch("[A-Za-z_-]+", token)
