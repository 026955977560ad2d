"""The codes of the linter, with severity, reason, remedy and example.

Codes are stable: a code keeps its meaning, and a retired code is not used again. RS1xx are about
lines and files, RS2xx about groups, RS3xx about rules, RS4xx about other lines, RS5xx about usage
preferences; RS9xx are advice.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lint.codes.lines import GROUPS, LINES, Code
from scrapy_robotspec.protocol.lint.codes.rules import ADVICE, OTHERS, RULES, USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CODES", "Code", "find_code"]

#: Every code of the linter, in order.
CODES: Mapping[str, Code] = MappingProxyType(
    {code.code: code for code in (*LINES, *GROUPS, *RULES, *OTHERS, *USAGE, *ADVICE)}
)


def find_code(text: str) -> Code | None:
    """The code with this code or short name, or None."""
    wanted = text.strip().lower()
    return next((code for code in CODES.values() if wanted in (code.code.lower(), code.name)), None)
