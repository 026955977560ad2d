"""Asks a parser all cases; counts right, wrong and unsupported ones."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.process import ParserProcess
from conformance.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.cases import Case

#: After this number of crashes, hangs or garbage in a row nothing more is asked. More than the
#: cases in a row with a file of 500 KiB, so that a short line buffer alone does not end a run.
GIVE_UP_AFTER = 10
_BROKEN = ("crash", "hang", "garbage", "not asked")


@dataclass(frozen=True)
class Result:
    """A case and what the parser did with it."""

    case: Case
    response: Response

    @property
    def passed(self) -> bool:
        """Whether the answer is the expected one, and of its type."""
        return self.response.kind == "answer" and same(self.response.value, self.case.expected)

    @property
    def failed(self) -> bool:
        """Whether the specification demands another answer, or there is none at all."""
        if self.response.kind in _BROKEN:
            return True
        return self.case.required and self.asked and not self.passed

    @property
    def asked(self) -> bool:
        """Whether the parser has a function for the question."""
        return self.response.kind != "unsupported"

    @property
    def given(self) -> str:
        """The parser's reaction, for people."""
        response = self.response
        if response.kind != "answer":
            return f"{response.kind}: {response.value}"
        return show(self.case.question, response.value)


@dataclass(frozen=True)
class Score:
    """The counts of one specification."""

    specification: str
    required: int
    """Cases that the specification demands and the parser was asked."""
    passed: int
    """Cases among these that it passed."""
    failed: int
    """The other ones, and open cases in which the parser crashed, hung or answered with garbage."""
    statements: int
    """Statements of which a case failed: an error counts once, in whatever number of cases."""
    open: int
    """Cases that the specification leaves open."""
    agreed: int
    """Cases among these that it answers as we do."""
    unsupported: int
    """Cases whose question the parser has no function for."""


def run(command: Sequence[str], cases: Iterable[Case], timeout: float) -> Iterator[Result]:
    """Ask a command all cases.

    A parser that breaks on ``GIVE_UP_AFTER`` cases in a row fails all further ones unasked.
    """
    broken = 0
    with ParserProcess(command, timeout) as process:
        for case in cases:
            if broken == GIVE_UP_AFTER:
                response = Response("not asked", f"{broken} breakdowns in a row before it")
            else:
                response = process.ask(request(case))
                broken = broken + 1 if response.kind in _BROKEN else 0
            yield Result(case, response)


def request(case: Case) -> dict[str, Any]:
    """The request for a parser."""
    try:
        text = {"file": case.body.decode("utf-8")}
    except UnicodeDecodeError:
        text = {}
    return {
        "id": case.id,
        "specification": case.specification,
        "question": case.question,
        **text,
        "file_base64": base64.b64encode(case.body).decode("ascii"),
        "tokens": list(case.tokens),
        "url": case.url,
        **({"robots_url": case.data["robots_url"]} if case.question == "applies" else {}),
    }


def score(specification: str, results: Iterable[Result]) -> Score:
    """Count the results of a specification."""
    own = [result for result in results if result.case.specification == specification]
    asked = [result for result in own if result.asked]
    required = [result for result in asked if result.case.required]
    undecided = [result for result in asked if not result.case.required]
    return Score(
        specification,
        len(required),
        sum(result.passed for result in required),
        sum(result.failed for result in asked),
        len({result.case.data["statement"] for result in asked if result.failed}),
        len(undecided),
        sum(result.passed for result in undecided),
        len(own) - len(asked),
    )


def same(given: Any, expected: Any) -> bool:
    """Whether two JSON values are equal; a boolean equals no number."""
    if isinstance(given, bool) or isinstance(expected, bool):
        return given is expected
    return bool(given == expected)


def show(question: str, value: Any) -> str:
    """An answer for people."""
    if question == "allowed" and isinstance(value, bool):
        return "allowed" if value else "disallowed"
    if question == "applies" and isinstance(value, bool):
        return "applies" if value else "does not apply"
    return repr(value)
