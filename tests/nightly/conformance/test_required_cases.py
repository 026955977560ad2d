"""Required cases depend on nothing that their specification leaves open.

Each open point is read in another way by the reference matcher. No required verdict may change,
or a parser could fail by a reading that the specification permits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from conformance.cases import Case, cases_of
from scrapy_robotspec.editions import EDITIONS, AgentMatch, Slashless
from tests.support import reference

#: Open in every specification but that of Google's matcher.
EVERYWHERE: dict[str, Any] = {
    "nul_ends_line": True,
    "star_ignores_text": None,  # the opposite
    "combine_tokens": True,
    "empty_tokens": None,
    "semicolon_starts_path": True,
    "whitespace": b" \t\v\f",
}
#: Specification -> its open points, read in another way than its edition does.
OPEN: dict[str, Sequence[dict[str, Any]]] = {
    "rfc9309": (
        {"partial_bom": True},
        {"known_fields": EDITIONS["google"].known_fields},
        {"fields_by_prefix": True},
        {"missing_colon": True},
        {"whole_agent_names": True},
        {"agent_match": AgentMatch.HYPHEN_PREFIX},
        {"count_trailing_star": False},
        {"parsing_limit": 600_000},
    ),
    "google-2019": (
        {"case_sensitive_tokens": True},
        {"slashless": Slashless.NEVER},
        {"slashless": Slashless.ASSUMED},
        {"robots_txt_allowed": False},
    ),
    "google-2010": (
        {"known_fields": EDITIONS["google"].known_fields},
        {"fields_by_prefix": True},
        {"robots_txt_allowed": False},
        {"parsing_limit": 600_000},
    ),
    "classic": (
        {"known_fields": EDITIONS["google"].known_fields},
        {"fields_by_prefix": True},
        {"missing_colon": True},
        {"partial_bom": True},
        {"case_sensitive_tokens": True},
        {"agent_match": AgentMatch.EQUAL},
        {"wildcards": True},
        {"slashless": Slashless.NEVER},
        {"decode_unreserved": False},
        {"robots_txt_allowed": False},
        {"parsing_limit": 600_000},
    ),
}


def readings() -> list[Any]:
    """Specification and what is read in another way."""
    return [
        pytest.param(name, change, id=f"{name}-{field}")
        for name, changes in OPEN.items()
        for change in (*changes, *({field: value} for field, value in EVERYWHERE.items()))
        for field in change
    ]


@cache
def required(specification: str) -> Sequence[Case]:
    """The required verdicts of a specification."""
    cases = cases_of(specification)
    return [case for case in cases if case.required and case.question == "allowed"]


@pytest.mark.parametrize(("specification", "change"), readings())
def test_required_verdicts_do_not_depend_on_open_points(
    specification: str, change: dict[str, Any]
) -> None:
    """The reference matcher gives them under every reading of the open points."""
    edition = EDITIONS[specification]
    ((field, value),) = change.items()
    changed: dict[str, Any] = {field: not getattr(edition, field) if value is None else value}
    other = replace(edition, **changed)
    assert required(specification)
    wrong = [
        case.id
        for case in required(specification)
        if case.url is not None
        # the value that reads whole names also gives a group with a star to that star alone
        and (field, case.data["statement"]) != ("whole_agent_names", "UAG-01")
        and reference.rule_on(case.body, case.url, case.tokens, other).allowed is not case.expected
    ]
    assert wrong == []
