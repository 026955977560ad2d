"""Words for reasons, outcomes and answers: every view takes them from here.

The texts are data, in ``words.tsv``: table, name, words. Texts from outside are filled in by the
view, which escapes them for its medium (SAF-04).
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: In the place of the cause of a failure that is unknown.
NO_ANSWER = "no answer"
#: The failure of a host that no URL can have: no further attempt can succeed.
IMPOSSIBLE_HOST = "impossible host name"
UNREACHABLE = "robots.txt unreachable"
SERVERS_READ = "; servers read "
NO_FILE_BUT = "no robots.txt: "


class Words(NamedTuple):
    """The words for one thing."""

    short: str
    """For brackets and tables."""
    sentence: str


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


_TEXT = Path(__file__).with_name("words.tsv").read_text("utf-8")
_LINES = [line.split("\t") for line in _TEXT.splitlines()]


def rows(table: str) -> dict[str, list[str]]:
    """The cells of *table* by name."""
    return {name: cells for kind, name, *cells in _LINES if kind == table}


#: Reason of a decision -> its words. There are further cases of three reasons: a status other than
#: 404 and 410, an unreachable file that allows, and a URL that has none.
REASONS: Mapping[str, Words] = {name: Words(*row) for name, row in rows("reason").items()}
OTHER_STATUS, UNREACHABLE_ALLOWED = "other_status", "unreachable_allowed"
#: Added where a copy decides that could not be renewed.
OLD_COPY = "old_copy"

#: Outcomes of requests by their names in stats, JSON and evidence, in the order of all views.
OUTCOMES: Mapping[str, RequestOutcome] = {
    name: RequestOutcome(Group(group), *words) for name, (group, *words) in rows("outcome").items()
}
#: ``request.meta["dont_obey_robotstxt"]``; also the reason of such a request in the evidence.
EXEMPT = "dont_obey_robotstxt"
#: A URL that no robots.txt governs (LOC-11, LOC-12).
NO_ROBOTS_TXT = "no_robots_txt"

#: The end of a wait for a robots.txt -> its words.
ENDS = {name: words for name, (words,) in rows("end").items()}

#: Answer of an origin: :func:`~scrapy_robotspec.access.account.meaning_of` -> its words.
ANSWERS: Mapping[str, Words] = {name: Words(*row) for name, row in rows("answer").items()}
#: A file without a rule (FET-20).
NO_RULES = "no_rules"


def failure_words(failure: str | None) -> str:
    """The cause of a failure in printable ASCII (SAF-04)."""
    return printable(failure or NO_ANSWER)


def printable(text: str) -> str:
    """*text* in printable ASCII (SAF-04): a shared store may hold anything."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
