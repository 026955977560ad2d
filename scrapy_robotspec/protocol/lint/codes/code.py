"""The type of a linter code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.models import Severity


class Code(NamedTuple):
    """One kind of finding, with its explanation for a person."""

    code: str
    name: str
    """Short name in lower case, words joined by hyphens."""
    severity: Severity
    message: str
    """The meaning of the code, one sentence."""
    why: str
    """How crawlers read such a line."""
    remedy: str
    """The remedy. Nothing in it changes a verdict that the author of the file means."""
    example: str | None = None
    """A file with the finding; None where no short text has it."""
    better: str | None = None
    """A similar file without it."""
    edition: str | None = None
    """Name of the only edition in which ``example`` has the finding; None: it has it by default."""
