"""The codes of the linter, with severity, reason, remedy and example.

Their texts are data, in ``codes.json``. Codes are stable: a code keeps its meaning, and a retired
code (RS204) is not used again. RS1xx are about lines and files, RS2xx about groups, RS3xx about
rules, RS4xx about other lines, RS5xx about usage preferences; RS9xx are advice.

Usage preferences: drafts aipref-attach-05, aipref-vocab-07 and
draft-kelley-aipref-training-preference-signal-00, contentsignals.org.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    better: str = "User-agent: *\nDisallow: /private/\n"
    """A similar file without it."""
    edition: str | None = None
    """Name of the only edition in which ``example`` has the finding; None: it has it by default."""


def read_data(name: str) -> Any:
    """The contents of a JSON file of this package."""
    return json.loads(files(__package__).joinpath(name).read_text("utf-8"))


#: Every code of the linter, in order.
CODES: Mapping[str, Code] = {row["code"]: Code(**row) for row in read_data("codes.json")}


def find_code(text: str) -> Code | None:
    """The code with this code or short name, or None."""
    wanted = text.strip().lower()
    return next((code for code in CODES.values() if wanted in (code.code.lower(), code.name)), None)
