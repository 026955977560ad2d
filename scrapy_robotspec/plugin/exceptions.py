"""Exceptions of requests that robots.txt does not let through.

All are Scrapy's ``IgnoreRequest``: errbacks run, and no traceback is logged. ``errors.py`` contains
the errors of this package itself; :func:`in_one_line` logs those that stop a crawl at its start.
"""

from __future__ import annotations

import logging
from functools import wraps
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.reasons import UNREACHABLE, printable
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.decision import Decision

logger = logging.getLogger("scrapy_robotspec")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def in_one_line(step: Callable[_P, _R]) -> Callable[_P, _R]:
    """Log a wrong setting in one line, before Scrapy's traceback.

    Decorates a *step* of the start of a crawl.

    The error is raised without its causes and frames, which say nothing to a user.
    """

    @wraps(step)
    def logged(*args: _P.args, **named: _P.kwargs) -> _R:
        try:
            return step(*args, **named)
        except ConfigurationError as error:
            logger.error("%s", error)
            raise error.with_traceback(None) from None

    return logged


class Refused(IgnoreRequest):
    """A refusal with the decision behind it. It survives pickling."""

    beginning: ClassVar[str]

    decision: Decision
    """The decision with its verdict, origin and outcome."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.decision = decision

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r}, origin={str(self.decision.origin)!r})"

    def __str__(self) -> str:
        return f"{self.beginning} ({self.detail})" if self.detail else self.beginning

    @property
    def detail(self) -> str:
        """The deciding line, the setting or the failure, escaped; may be empty."""
        return self.decision.cause()


class ForbiddenByRobots(Refused):
    """robots.txt, a policy or an override forbids the request."""

    beginning = "Forbidden by robots.txt"


class ForbiddenUsage(ForbiddenByRobots):
    """A declared use of the page is not allowed (USE-05).

    Raised before the download for what robots.txt states, and before the spider for what the
    response's ``Content-Usage`` header states; ``decision.usage`` has label and statement.
    """


class RobotsUnreachable(Refused):
    """The origin's robots.txt is unreachable."""

    beginning = UNREACHABLE

    @property
    def detail(self) -> str:
        """Cause of the last failure; empty where it is unknown."""
        return printable(self.decision.failure or "")


def refusal(decision: Decision) -> Refused:
    """The exception for a decision that does not allow a request."""
    if decision.reason == "unreachable":
        return RobotsUnreachable(decision)
    return ForbiddenUsage(decision) if decision.reason == "usage" else ForbiddenByRobots(decision)
