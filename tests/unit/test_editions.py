"""get_edition(): names, editions and overrides; what each edition says is tested in spec/."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from conformance import tables
from scrapy_robotspec.editions import (
    EDITIONS,
    LINE_FIELDS,
    AfterLimit,
    AgentMatch,
    Edition,
    Slashless,
    get_edition,
    has_plain_lines,
)
from scrapy_robotspec.errors import ConfigurationError


@pytest.mark.parametrize("name", EDITIONS)
def test_a_preset_is_found_by_its_name(name: str) -> None:
    assert get_edition(name) is EDITIONS[name]
    assert get_edition(EDITIONS[name]) is EDITIONS[name]
    assert EDITIONS[name].name == name


@pytest.mark.parametrize("name", EDITIONS)
@pytest.mark.parametrize("base", EDITIONS)
def test_every_value_of_every_preset_can_be_given_as_an_override(name: str, base: str) -> None:
    wanted = EDITIONS[name]
    values = {field.name: getattr(wanted, field.name) for field in fields(Edition)}
    assert get_edition({"base": base, **values}) == wanted


def test_overrides_change_single_values_of_their_base() -> None:
    own = get_edition({"base": "rfc9309", "stale_after": 60})
    assert own == replace(EDITIONS["rfc9309"], name="rfc9309 (modified)", stale_after=60.0)
    assert get_edition({"name": "mine"}) == replace(EDITIONS["google-2019"], name="mine")
    assert get_edition({"base": own, "name": "mine"}).stale_after == 60


def test_overrides_may_come_from_json() -> None:
    own = get_edition(
        {
            "agent_match": "equal",
            "slashless": "assumed",
            "after_limit": "allow if pages answer",
            "whitespace": " \t",
            "known_fields": [["User-Agent", "user-agent"], ["dissallow", "disallow"]],
            "max_line": None,
        }
    )
    assert own.agent_match is AgentMatch.EQUAL
    assert own.slashless is Slashless.ASSUMED
    assert own.after_limit is AfterLimit.ALLOW_IF_PAGES_ANSWER
    assert own.whitespace == b" \t"
    assert get_edition({"whitespace": bytearray(b"\xff")}).whitespace == b"\xff"
    assert own.known_fields == ((b"user-agent", "user-agent"), (b"dissallow", "disallow"))


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ("google-1998", "unknown edition 'google-1998': use one of google-2019, "),
        (None, "unknown edition None: use one of google-2019, "),
        (2019, "unknown edition 2019: use one of google-2019, "),
        ({"base": "google-1998"}, "google-2019"),
        ({"base": None}, "unknown edition None: use one of google-2019, "),
        ({"wildcard": True}, "wildcards"),
        ({7: True}, "unknown edition field 7"),
        ({"name": 7}, "a text"),
        ({"wildcards": "no"}, "True or False"),
        ({"parsing_limit": True}, "whole number"),
        ({"parsing_limit": None}, "whole number"),
        ({"max_line": "long"}, "whole number"),
        ({"stale_after": "an hour"}, "seconds"),
        ({"stale_after": float("nan")}, "seconds"),
        ({"whitespace": 2}, "bytes"),
        ({"whitespace": "\u2028"}, "bytes"),
        ({"known_fields": [["noindex", "noindex"]]}, "pairs"),
        ({"agent_match": "similar"}, "'equal'"),
        ({"after_limit": True}, "'copy or allow'"),
    ],
    ids=repr,
)
def test_what_an_edition_or_a_field_cannot_be_is_refused(overrides: object, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        get_edition(overrides)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_tables_ask_every_edition() -> None:
    """The cases of ``conformance/tables`` are asked in each one; a new one must not be missing."""
    assert tuple(EDITIONS) == tables.EDITIONS
    asked = {name for case in tables.read_tables() for name in case.editions}
    assert asked == set(EDITIONS)


#: Read by the search for agents itself, or on what it has found.
AGENT_FIELDS = (
    *("partial_bom", "empty_tokens", "star_ignores_text", "agent_match", "combine_tokens"),
    *("case_sensitive_tokens", "whole_agent_names"),
)
PATTERN_FIELDS = (
    *("wildcards", "slashless", "count_trailing_star", "semicolon_starts_path"),
    *("decode_unreserved", "robots_txt_allowed", "empty_rules_decide_line", "index_html"),
)
#: These do not change a verdict on the bytes that are read.
OTHER_FIELDS = (
    *("other_fields", "parsing_limit", "parsing_limit_minimum", "too_many_requests_unreachable"),
    *("minimum_redirects", "recognises_redirect_loops", "stale_after"),
    *("allow_without_copy_after", "unreachable_limit", "limit_begins_stale", "after_limit"),
)


def test_every_field_is_in_one_class() -> None:
    """A new field has to be put into LINE_FIELDS, or to be known not to belong there."""
    classes = [LINE_FIELDS, AGENT_FIELDS, PATTERN_FIELDS, OTHER_FIELDS]
    names = [field.name for field in fields(Edition) if field.name != "name"]
    assert sorted(name for each in classes for name in each) == sorted(names)


@pytest.mark.parametrize("name", EDITIONS)
def test_lines_are_plain_if_all_fields_about_lines_are(name: str) -> None:
    plain = EDITIONS["google-2019"]
    edition = EDITIONS[name]
    for field in (*AGENT_FIELDS, *PATTERN_FIELDS, *OTHER_FIELDS):
        assert has_plain_lines(replace(plain, **{field: getattr(edition, field)}))
    for field in LINE_FIELDS:
        value = getattr(edition, field)
        assert has_plain_lines(replace(plain, **{field: value})) is (value == getattr(plain, field))
