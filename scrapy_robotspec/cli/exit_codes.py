"""Exit codes of every command, and which of several counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.render.explanation import Explanation

#: All allowed, no finding, no difference.
GOOD = 0
#: Something is disallowed, found or different.
FOUND = 1
#: The command line is wrong; the message contains the remedy.
MISUSE = 2
#: A robots.txt is unreachable.
UNREACHABLE = 3
#: Ctrl-C, as shells have it.
INTERRUPTED = 130


def code_of(found: Explanation, labels: Sequence[str] = ()) -> int:
    """The exit code of one answer; the greatest of several counts.

    ``labels``: uses that must not be disallowed either.
    """
    if found.allowed is None:
        return MISUSE
    if not found.allowed:
        return UNREACHABLE if found.reason == "unreachable" else FOUND
    return FOUND if is_disallowed(found, labels) else GOOD


def is_disallowed(found: Explanation, labels: Sequence[str] = ()) -> bool:
    """Whether the page, or one of its uses, is disallowed."""
    if not found.allowed:
        return True
    usage = found.usage
    return usage is not None and any(usage.preference(each) == "disallow" for each in labels)


def with_problems(code: int, problems: int) -> int:
    """The exit code where something, such as a line, is left out."""
    return code or (MISUSE if problems else GOOD)
