"""The policy against the catalogue's words, over random histories of one origin.

FET-07, FET-08, FET-09, FET-10, FET-12, FET-13, FET-19, CAC-01, CAC-02.

``ROBOTSPEC_PROFILE=long`` compares 50,000 of them.
"""

from __future__ import annotations

import os
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.resolved import resolve
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

from . import catalogue
from .catalogue import CLOSED_NOW, DAY, HOUR, MINUTE, OPEN, Answer, Catalogue, Walk
from .simulation import Life, policy

EXAMPLES = 50_000 if os.environ.get("ROBOTSPEC_PROFILE") == "long" else 2_000

BODY = b"User-agent: *\nDisallow: /private\n"
answers = st.builds(
    Answer,
    status=st.one_of(
        st.sampled_from([200, 404, 429, 503, None]),
        st.sampled_from([200, 403, 301, 304, 404, 407, 408, 410, 421, 425, 429, 500, 599, 600]),
    ),
    retry_after=st.sampled_from([0, 0, 0, 20, 299, 301, 3600, 21_600, 86_400, 10**9]),
    max_age=st.sampled_from([None, None, None, 0, 600, 7200, 10**9]),
)
waits = st.one_of(
    st.floats(0, 10),
    st.floats(0, 10 * MINUTE),
    st.floats(0, 5 * HOUR),
    st.floats(0, 3 * DAY),
    st.just(DAY),
    st.floats(0, 35 * DAY),
)
#: What happens at a step: a jump of the clock, a restart of the crawl, a page that answers.
events = st.sampled_from(["", "", "", "", "restart", "page", "back", "ahead"])
#: A step, how often the origin answers like that, and the seconds between its requests.
steps = st.tuples(waits, answers, events, st.sampled_from([1, 1, 3, 40]), st.sampled_from([1, 70]))
policies = st.sampled_from([{}, {}, {403: "disallow"}, {"4xx": "disallow"}, {"4xx": "unreachable"}])
crawls = st.builds(
    Catalogue,
    edition=st.sampled_from(list(catalogue.CLOSED)),
    hold=st.sampled_from([0.0, 60.0, 300.0, 300.0]),
    retries=st.sampled_from([0, 2, 2, 5]),
    policy=policies,
    waits=st.sampled_from([True, True, True, False]),
)


def result_of(answer: Answer) -> FetchResult:
    headers = {}
    if answer.retry_after:
        headers["retry-after"] = str(int(answer.retry_after))
    if answer.max_age is not None:
        headers["cache-control"] = f"max-age={int(answer.max_age)}"
    if answer.status is None:
        return FetchResult(error="no answer within 30 s")
    error = "too many redirects" if answer.status == 301 else None
    return FetchResult(answer.status, BODY, headers, redirect_error=error)


def life_of(words: Catalogue) -> Life:
    settings = {
        "hold_timeout": words.hold,
        "retry_times": words.retries,
        "unreachable": "wait" if words.waits else "allow",
        "status_policy": {key: Meaning(meant) for key, meant in words.policy.items()},
    }
    return Life(policy(words.edition, **settings), lambda now: FetchResult(), jitter=0.3)


def stance_of(plan: Plan, copy: Meaning | None) -> str:
    """The plan in the model's words."""
    if plan.reason == "limit_passed" or (plan.action, plan.reason) == (Action.ALLOW, "unreachable"):
        return OPEN
    if plan.action in (Action.WAIT, Action.REFUSE):
        return CLOSED_NOW
    return str(plan.action.value)


def check_words(life: Life, plan: Plan, words: Catalogue) -> None:
    """Each sentence names statuses that occurred, in their roles, and never None."""
    record = life.held
    robots = RobotsTxt.parse(record.body, "google-2019") if plan.action is Action.RULES else None
    resolved = resolve(record, plan, robots, life.now)
    decision = resolved.decide("http://example.com/", ["a"], life.now)
    known = words.known
    assert decision.status == (
        known.fails if plan.reason in ("unreachable", "limit_passed") else known.copy_status
    )
    failed = "no answer within 30 s" if known.fails is None else f"HTTP status {known.fails}"
    for text in (decision.detail, decision.cause()):
        assert "None" not in text
        if plan.reason not in ("", "unreachable", "limit_passed"):
            assert known.copy_status in (404, 410) or f"HTTP status {known.copy_status}" in text
        if decision.outcome == "unreachable":
            assert failed in text or text == decision.cause()
            assert known.outage or known.outlasts
        allowed = {f"HTTP status {known.copy_status}", failed.partition(",")[0]}
        named = {f"HTTP status {part[:3]}" for part in text.split("HTTP status ")[1:]}
        assert named <= allowed


@settings(max_examples=EXAMPLES, deadline=None)
@given(crawls, st.lists(steps, min_size=1, max_size=10))
def test_every_history_is_treated_as_the_catalogue_says(
    words: Catalogue, steps: list[tuple[float, Answer, str, int, int]]
) -> None:
    """FET-07 to FET-14, FET-19, FET-20, CAC-01 to CAC-03."""
    words = replace(words, known=Walk())
    life = life_of(words)
    for wait, answer, event, times, every in steps:
        life.now += {"back": -2 * DAY, "ahead": 2 * DAY}.get(event, 0.0) + wait
        if event == "restart" and life.record is not None:
            life.record = RobotsRecord.from_bytes(life.record.to_bytes())
        if event == "page" and life.record is not None:
            noted = life.policy.page_answered(life.record, life.now)
            words.page = noted.pages_answered_at if noted is not life.record else words.page
            life.record = noted
        life.answer = lambda now, answer=answer: result_of(answer)  # type: ignore[misc]
        for _ in range(times):
            asked = len(life.attempts)
            plan = life.ask()
            if len(life.attempts) > asked:
                words.take(life.now, answer)
                if life.held.failed_at is None and life.held.pages_answered_at is None:
                    words.page = None
            expected = words.stance(life.now)
            assert stance_of(plan, None) == expected, (words, life.now)
            check_words(life, plan, words)
            if plan.action is not Action.WAIT and len(life.attempts) > asked:
                before = words.may_ask_from(life.now, answer) - 1
                again = life.policy.plan(life.record, before)
                is_asked = again.ask and before > life.now
                assert not is_asked or stance_of(again, None) != stance_of(plan, None)
            life.now += every
