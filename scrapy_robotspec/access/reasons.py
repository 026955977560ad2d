"""Words for reasons, outcomes and answers: every view takes them from here.

Texts from outside are filled in by the view, which escapes them for its medium (SAF-04).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Words(NamedTuple):
    """The words for one thing."""

    short: str
    """For brackets and tables."""
    sentence: str


#: In the place of the cause of a failure that is unknown.
NO_ANSWER = "no answer"
UNREACHABLE = "robots.txt unreachable"
SERVERS_READ = "; servers read "
NO_FILE_BUT = "no robots.txt: "

OTHER_STATUS, UNREACHABLE_ALLOWED = "other_status", "unreachable_allowed"

#: Reason of a decision -> its words.
REASONS: Mapping[str, Words] = {
    "rule": Words("{rule}", "{verb} by {file}{in_brackets}."),
    "no_rule": Words("no rule of the group matches", "Allowed: no rule of {file} matches the URL."),
    "no_group": Words("no group applies", "Allowed: no group of {file} is for this crawler."),
    "robots_txt_itself": Words(
        "/robots.txt itself is always allowed", "Allowed: {file} itself is never disallowed."
    ),
    "unavailable": Words(
        "the site has no robots.txt, so everything is allowed",
        "Allowed: there is no {file} (HTTP status {status}).",
    ),
    "unreachable": Words(UNREACHABLE + ": {failure}", "{verb}: {file} is unreachable ({failure})."),
    "limit_passed": Words(
        "robots.txt was unreachable beyond the limit, so its rules no longer apply",
        "Allowed: {file} has been unreachable for too long ({failure}).",
    ),
    "policy": Words(
        "HTTP status {status}, ROBOTSPEC_STATUS_POLICY",
        "Disallowed by the status policy: {file} responds with HTTP status {status}.",
    ),
    "override": Words(
        "ROBOTSPEC_OVERRIDES{after_comma}", "{verb} by ROBOTSPEC_OVERRIDES{in_brackets}."
    ),
    "usage": Words("{usage}", "{verb}: {usage}."),
    # further cases of two reasons: another status than 404 and 410; allowed
    OTHER_STATUS: Words(
        "HTTP status {status}{failed}: everything is allowed",
        "Allowed: {file} responds with HTTP status {status}{failed}.",
    ),
    UNREACHABLE_ALLOWED: Words(
        UNREACHABLE + ": {failure}, ROBOTSPEC_UNREACHABLE = 'allow'",
        "{verb}: {file} is unreachable ({failure}).",
    ),
}

#: A URL that has no robots.txt (LOC-11, LOC-12).
NO_ROBOTS_TXT_WORDS = "a URL of this scheme has no robots.txt"


class Group(Enum):
    """The outcomes that a reader adds up first, with their words."""

    LET_THROUGH = "let through"
    REFUSED = "refused"
    NOT_CHECKED = "not checked"
    NO_ROBOTS_TXT = "without a robots.txt"


class RequestOutcome(NamedTuple):
    """A row of the table of outcomes."""

    group: Group
    short: str
    """For brackets, beside the words of the group."""
    sentence: str


#: ``request.meta["dont_obey_robotstxt"]``; also the reason of such a request in the evidence.
EXEMPT = "dont_obey_robotstxt"
#: A URL that no robots.txt governs (LOC-11, LOC-12).
NO_ROBOTS_TXT = "no_robots_txt"

#: Outcomes of requests by their names in stats, JSON and evidence, in the order of all views.
OUTCOMES: Mapping[str, RequestOutcome] = {
    "rules": RequestOutcome(Group.LET_THROUGH, "by rules", "let through by the rules"),
    "unavailable": RequestOutcome(
        Group.LET_THROUGH, "without a file", "let through without a file"
    ),
    "override": RequestOutcome(Group.LET_THROUGH, "by an override", "let through by an override"),
    "unreachable": RequestOutcome(
        Group.LET_THROUGH, "unreachable", "let through although the site did not answer"
    ),
    EXEMPT: RequestOutcome(Group.NOT_CHECKED, EXEMPT, f"not checked ({EXEMPT})"),
    NO_ROBOTS_TXT: RequestOutcome(
        Group.NO_ROBOTS_TXT, "data:, file:", "of URLs that have no robots.txt (data:, file:)"
    ),
    "refused_rule": RequestOutcome(Group.REFUSED, "by a rule", "refused by a rule"),
    "refused_policy": RequestOutcome(Group.REFUSED, "by policy", "refused by the status policy"),
    "refused_override": RequestOutcome(Group.REFUSED, "by an override", "refused by an override"),
    "refused_usage": RequestOutcome(
        Group.REFUSED, "by a usage preference", "refused by a usage preference"
    ),
    "refused_unreachable": RequestOutcome(
        Group.REFUSED, "unreachable", "refused because the site did not answer"
    ),
}

#: The end of a wait for a robots.txt -> its words.
ENDS = {"answered": "has answered", "given_up": "given up", "copy": "is unreachable"}

#: A file without a rule (FET-20).
NO_RULES = "no_rules"

#: Answer of an origin: :func:`~scrapy_robotspec.access.account.answer_of` -> its words.
ANSWERS: Mapping[str, Words] = {
    "rules": Words("with rules", "a file: its rules decide"),
    NO_RULES: Words("without rules", "a file without rules: everything is allowed"),
    "allow": Words("without a file (all allowed)", "the site has no file: everything is allowed"),
    "disallow": Words(
        "disallowed by policy", "refused by ROBOTSPEC_STATUS_POLICY: nothing is allowed"
    ),
    "unreachable": Words(
        "unreachable", "unreachable: a crawl waits, tries again, and gives up in the end"
    ),
}


def answer_in_words(answer: str) -> str:
    """The short words of an answer; a doubt is in words already."""
    return ANSWERS[answer].short if answer in ANSWERS else answer


def failure_words(failure: str | None) -> str:
    """The cause of a failure in printable ASCII (SAF-04)."""
    return printable(failure or NO_ANSWER)


def printable(text: str) -> str:
    """*text* in printable ASCII (SAF-04): a shared store may hold anything."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
