"""Consequences of a page's usage preferences: ``ROBOTSPEC_USAGE`` and its policy (USE-05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.protocol.usage import Preference, Usage, UsageStatement

PolicyName = Literal["record", "refuse-disallowed", "require-allowed"]

#: Labels of current drafts, and of earlier ones that files still contain.
KNOWN_LABELS = ("train-ai", "search", "ai-input", "ai-use", "all", "train-genai", "bots")

#: Max length of a statement in a sentence for a person (characters).
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class UsageRefusal:
    """Why a page is refused for its usage preferences."""

    label: str
    """The declared use that is not allowed."""
    statement: UsageStatement | None = None
    """The statement that disallows it; None where none says anything about the label."""

    @property
    def line(self) -> int | None:
        """The statement's line in robots.txt, from 1; None without one."""
        return self.statement.line if self.statement is not None else None

    @property
    def detail(self) -> str:
        """The reason in one sentence, safe for a terminal (SAF-04)."""
        if self.statement is None:
            return f"{self.label} is unknown: no statement allows it"
        written = ascii(as_written(self.statement)[:_SHOWN])
        place = "the response header" if self.line is None else f"line {self.line}"
        return f"{self.label} is disallowed by {place}: {written}"


@dataclass(frozen=True, slots=True)
class UsagePolicy:
    """Decides about a page by the uses that a crawl declares."""

    labels: tuple[str, ...] = ()
    """The declared uses."""
    name: PolicyName = "record"

    def refusal(self, usage: Usage | None, *, final: bool) -> UsageRefusal | None:
        """Why a page with this usage is refused, or None.

        ``usage`` None: nothing is stated. ``final``: no further source can state a preference, so
        that unknown stays unknown. Before the download only a disallowed label is certain, as the
        response's header may allow others.
        """
        # hot path
        if self.name == "record":
            return None
        stated: Mapping[str, Preference] = {} if usage is None else usage.preferences
        for label in self.labels:
            if usage is not None and stated.get(label) == "disallow":
                disallowing = (
                    each for each in usage.statements if each.preferences.get(label) == "disallow"
                )
                return UsageRefusal(label, next(disallowing, None))
        if final and self.name == "require-allowed":
            unknown = (label for label in self.labels if label not in stated)
            return next(map(UsageRefusal, unknown), None)
        return None

    def counts(self, usage: Usage | None) -> Mapping[str, str]:
        """The page's preference for each declared label."""
        if usage is None:
            return dict.fromkeys(self.labels, "unknown")
        return {label: usage.preferences.get(label, "unknown") for label in self.labels}


def doubt_about(label: str) -> str | None:
    """Words about a label that no draft defines, else None."""
    from difflib import get_close_matches  # few crawls need it

    if label in KNOWN_LABELS:
        return None
    closest = get_close_matches(label.lower(), KNOWN_LABELS, 1, 0.5)
    meant = f": {closest[0]!r} is probably meant" if closest else ""
    return (
        f"{label!r}, which no draft defines{meant}. It concerns only pages of sites that state it; "
        f"drafts define {', '.join(KNOWN_LABELS)}"
    )


def as_written(statement: UsageStatement) -> str:
    """A statement as a line or header has it, unescaped."""
    if statement.source == "policy-token":
        return f"Disallow: {statement.path} (User-agent: {statement.value})"
    name = "Content-Signal" if statement.source == "content-signal" else "Content-Usage"
    path = "" if statement.path is None else f"{statement.path} "
    return f"{name}: {path}{statement.value}"
