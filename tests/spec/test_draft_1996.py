"""The cases of ``draft-1996``, which no edition of the package reads, against a second reading."""

from __future__ import annotations

import pytest

from conformance.tables import Answer, TableCase, read_tables
from tests.spec.table import deliveries
from tests.support.draft_1996 import decoded, record_for, rule_on

CASES = [case for case in read_tables() if case.specification == "draft-1996"]
#: Neither a byte order mark nor white space before a field or its colon is in the draft's grammar.
NOT_IN_THE_GRAMMAR = {"a byte order mark", "white space everywhere"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_second_reading_gives_the_verdict_and_the_line_of_the_table(case: TableCase) -> None:
    """In every spelling of the file that the draft allows."""
    for delivery, body, factor in deliveries(case):
        for ask in case.asks:
            answer = ask.answers[""]
            assert isinstance(answer, Answer)
            if delivery not in NOT_IN_THE_GRAMMAR:
                (token,) = ask.tokens
                expected = (answer.allowed, answer.line * factor)
                assert rule_on(body, ask.url, token) == expected, f"{ask.url}, {delivery}"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("/%3c", "/<", True),
        ("/%3C", "/%3c", True),
        ("/%2f", "/%2F", True),
        ("/%2f", "//", False),
        ("/%252f", "/%2f", False),
        ("/%zz", "/%ZZ", False),
    ],
)
def test_second_reading_decodes_all_escapes_but_the_slash(
    one: str, other: str, equal: bool
) -> None:
    """Section 3.2.2."""
    assert (decoded(one.encode()) == decoded(other.encode())) is equal


def test_second_reading_finds_the_record_of_a_star_and_not_a_name_with_a_star() -> None:
    """Section 3.2.1: the value is ``*``, not text that contains one."""
    body = b"User-agent: foo*\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n"
    assert [rule.path for rule in record_for(body, b"BarBot").rules] == [b"/b"]
    assert [rule.path for rule in record_for(body, b"FOO").rules] == [b"/a"]
