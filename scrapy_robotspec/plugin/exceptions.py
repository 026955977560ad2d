"""What a request raises that robots.txt does not let through.

Both are Scrapy's ``IgnoreRequest``, so that errbacks run and nobody sees a traceback. The errors
of this package itself stand in ``errors.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.protocol.models import Verdict


class _Refused(IgnoreRequest):
    """A refusal with the decision behind it. It survives pickling."""

    beginning: ClassVar[str]

    decision: Decision
    """All that led there."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.decision = decision

    @property
    def verdict(self) -> Verdict | None:
        """What the file says about the URL; None where no rules were asked."""
        return self.decision.verdict

    @property
    def origin(self) -> Origin | None:
        """The origin whose robots.txt governs the URL."""
        return self.decision.origin

    def __str__(self) -> str:
        return f"{self.beginning} ({self.detail})" if self.detail else self.beginning

    @property
    def detail(self) -> str:
        """The line that decided, or what went wrong, safe for a terminal; may be empty."""
        return ""


class ForbiddenByRobots(_Refused):
    """robots.txt, or what is taken for it, forbids the request. ``decision.reason`` says which."""

    beginning = "Forbidden by robots.txt"

    @property
    def detail(self) -> str:
        """The line that decided, or the decision's reason."""
        rule = self.verdict.rule if self.verdict is not None else None
        if rule is None:
            return self.decision.reason
        # A rule is a stranger's text: it must not steer a terminal (SAF-04).
        return f"line {rule.line}: {rule.text.strip()!a}"


class RobotsUnreachable(_Refused):
    """The origin gives no usable answer for its robots.txt, so nothing of it is crawled."""

    beginning = "robots.txt unreachable"

    @property
    def detail(self) -> str:
        """What the last attempt failed with; empty where nothing is known."""
        failure = self.decision.failure or ""
        # It may come from a shared store, where a stranger may have written it (SAF-04).
        return failure if failure.isascii() and failure.isprintable() else ascii(failure)[1:-1]
