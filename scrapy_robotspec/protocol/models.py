"""Public values: a file's groups and lines, and a verdict.

Texts are decoded for a person: bytes that are not UTF-8 appear as ``\\xNN``. Nothing is escaped for
a terminal; the code that prints a text escapes it (SAF-04).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["allow", "disallow"]
VerdictReason = Literal["rule", "no_rule", "no_group", "robots_txt_itself"]
Severity = Literal["error", "warning", "advice"]

#: The name of the default group (UAG-05).
DEFAULT = "*"
#: Names of groups that state usage preferences and are no crawler's, in lower case, and their
#: labels (USE-10).
POLICY_TOKENS: Mapping[str, str] = {"__usage_ai-training": "train-ai"}


def decode(text: bytes) -> str:
    """Bytes of a file as text for a person; never raises (FMT-04)."""
    return text.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line."""

    kind: Kind
    pattern: str
    """The path pattern as written; empty where the line has none (RUL-02)."""
    line: int
    """Number of the line in the file, from 1."""
    text: str
    """The whole line as written, without its line end."""


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and the rules below them, as written (GRP-01)."""

    tokens: tuple[str, ...]
    """The agents named, in order; ``"*"`` is the default, lines that name none are left out."""
    rules: tuple[Rule, ...]
    first_line: int
    """Line number of the first user-agent line, from 1."""


@dataclass(frozen=True, slots=True)
class OtherLine:
    """A group's line with another field (EXT-03)."""

    field: str
    """In lower case, since fields do not depend on case (FMT-08)."""
    value: str
    line: int
    """Number of the line in the file, from 1."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The file's answer for one URL, with the deciding line (EXT-02)."""

    allowed: bool
    reason: VerdictReason
    rule: Rule | None
    """The deciding rule; None unless ``reason`` is ``"rule"``."""
    group: tuple[str, ...]
    """The tokens of the group followed, ``("*",)`` for the default, ``()`` for none."""
    edition: str
    """The edition's name."""
    resolved: str | None = None
    """The URL as servers read it, if this reading forbids and the URL as given does not."""
