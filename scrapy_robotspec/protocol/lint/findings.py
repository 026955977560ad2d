"""Findings and their codes.

Severity, reason, remedy and example of the codes are data, in ``codes.json``. Codes are stable: a
code keeps its meaning, and a retired code (RS204, RS207, RS212, RS213, RS506, RS904) is not used
again.
RS1xx are about lines and files, RS2xx about groups, RS3xx about rules, RS4xx about other lines,
RS5xx about usage preferences; RS9xx are advice.

Usage preferences: drafts aipref-attach-05, aipref-vocab-07 and
draft-kelley-aipref-training-preference-signal-00, contentsignals.org.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.protocol.models import Severity, decode

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line


#: Characters of a text that a message repeats.
_SHOWN = 40


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


class Finding(NamedTuple):
    """One finding of the linter, about a line or the whole file."""

    line: int
    """Line number from 1; 0 for the file as a whole."""
    code: str
    """One of the codes, as ``RS305``."""
    message: str
    """The fault, and what the edition does with the line."""
    text: str
    """The line as written, without its line end; empty for the file as a whole."""
    severity: Severity
    """How much it matters; ``docs/lint.md`` defines the words."""
    replacement: str | None = None
    """A line with which every edition gives the same verdicts; ``""``: delete the line; None: no
    proposal."""


#: Code, fault, and how an edition reads the line, without the subject.
Fault = tuple[str, str, str]
#: The same behind the line (None: the whole file), maybe with the replacement of a finding.
Faults = Iterator[
    tuple["Line | None", str, str, str] | tuple["Line | None", str, str, str, str | None]
]


def findings_of(faults: Faults, edition: Edition) -> list[Finding]:
    """The findings about some :data:`Faults`, in file order.

    Their number is not bounded; memory is linear in the file (SAF-02): a message repeats little of
    a line, and findings share what is equal.
    """
    texts: dict[str, str] = {}  # what findings share
    found: list[Finding] = []
    for line, code, fault, effect, *replacement in faults:
        number, text = (0, "") if line is None else (line.number, decode(line.text))
        message = f"{fault}; {edition.name} {effect}."
        message, text = texts.setdefault(message, message), texts.setdefault(text, text)
        found.append(Finding(number, code, message, text, CODES[code].severity, *replacement))
    return sorted(found, key=attrgetter("line", "code"))


def shown(text: str | bytes) -> str:
    """A quoted and shortened text for a message."""
    text = decode(text) if isinstance(text, bytes) else text
    return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'
