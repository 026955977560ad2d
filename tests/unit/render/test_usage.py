"""The usage preferences of an explanation, in words and as data."""

from __future__ import annotations

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.render.usage import usage_answer, usage_object


def test_long_and_hostile_statements_are_escaped() -> None:
    """SAF-04: and many of them are shown in part."""
    body = b"User-agent: *\n" + b"Content-Usage: /\x1b[31m<b> train-ai=n\n" * 200
    answer = usage_answer(RobotsTxt.parse(body), "/a", ("foo",))
    facts = list(answer.facts())
    assert len(facts) < 60
    assert all(text.isprintable() for _, text in facts)


def test_statements_say_whether_they_decide() -> None:
    """USE-01: a longer path hides a statement, which is named all the same."""
    body = b"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y\n"
    answer = usage_answer(RobotsTxt.parse(body), "/a", ("foo",))
    shown = usage_object(answer)
    assert shown["preferences"] == {"train-ai": "allow"}
    assert [(each["line"], each["decides"]) for each in shown["statements"]] == [
        (3, True),
        (2, False),
    ]


def test_a_page_that_may_not_be_fetched_has_no_preference() -> None:
    answer = usage_answer(
        RobotsTxt.parse(b"User-agent: *\nDisallow: /\nContent-Usage: x=y\n"), "/", ()
    )
    assert usage_object(answer)["applies"] is False
    assert dict(answer.facts())["usage"] == "no preference, as the page may not be fetched"
