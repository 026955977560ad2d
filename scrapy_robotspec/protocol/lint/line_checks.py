"""Checks that need one line and the edition only. No verdict depends on this module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.agents import named_agent
from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.models import DEFAULT, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line

#: A code and the message that goes with it.
Remark = tuple[str, str]

#: Fields beyond the protocol that are in use, and so are no slip of the pen (EXT-01, EXT-03).
EXTENSIONS = frozenset(
    {
        "clean-param",
        "content-signal",
        "content-usage",
        "crawl-delay",
        "host",
        "request-rate",
        "visit-time",
    }
)
_PROTOCOL = ("user-agent", "allow", "disallow", "sitemap")
_LONGEST_MISSPELLING = 16
_SHOWN = 40  #: characters of a field or name that a message repeats
_NUMBER = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_TIGHT_COLON = re.compile(rb"[^:]*:[^ \t]")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_NO_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_DIRECTORY = re.compile(rb"/(?:[^*$?]*/)?[^*$?/.=%&]+")


def _with_one_letter_less(name: str) -> set[str]:
    return {name, *(name[:place] + name[place + 1 :] for place in range(len(name)))}


def _letters(name: str) -> str:
    return re.sub("[-_ \t.]", "", name)


_NEIGHBOURS = {
    neighbour: field
    for field in (*_PROTOCOL, "crawl-delay")
    for neighbour in _with_one_letter_less(_letters(field))
}


def meant_field(name: str) -> str | None:
    """The field that a misspelt name most likely means, or None.

    Two names are neighbours when they become equal by leaving out at most one letter of each.
    """
    if len(name) > _LONGEST_MISSPELLING:
        return None
    found = (_NEIGHBOURS.get(near) for near in sorted(_with_one_letter_less(_letters(name))))
    return next((field for field in found if field), None)


def check_form(line: Line, edition: Edition) -> Iterator[Remark]:
    """Whether a line that is not blank is of the form ``field: value`` (FMT-06, FMT-11)."""
    content = line.text.partition(b"#")[0].strip(edition.whitespace)
    if not content:
        return
    if b":" not in content:
        read = "takes the white space for it" if line.name else "ignores the line"
        yield "RS101", f"There is no colon behind the field; {edition.name} {read}."
    elif not line.name:
        yield "RS101", f"There is no field before the colon; {edition.name} ignores the line."
    elif line.field in _PROTOCOL and _TIGHT_COLON.match(content):
        yield "RS903", f"A blank behind the colon reads better; {edition.name} needs none."


def check_octets(line: Line, edition: Edition) -> Iterator[Remark]:
    """Whether all of a line can be read as text (FMT-01, FMT-04, FMT-13, FMT-14)."""
    limit = edition.max_line
    if limit is not None and len(line.text) > limit:
        yield "RS105", f"The line is too long; {edition.name} reads its first {limit} octets."
    if _CONTROL.search(line.text):
        nul = b"\0" in line.text and edition.nul_ends_line
        read = "ends the line there" if nul else "takes it for a part of the line"
        yield "RS106", f"There is a control character in the line; {edition.name} {read}."
    try:
        line.text.decode("utf-8")
    except UnicodeDecodeError:
        yield (
            "RS104",
            f"The line is not all UTF-8; {edition.name} compares such octets by their escapes.",
        )


def check_field(line: Line, edition: Edition) -> Iterator[Remark]:
    """Whether the field is one that means something (FMT-08, FMT-10, FMT-14)."""
    name = decode(line.name).lower()
    shown = f'"{name[:_SHOWN]}"'
    if line.field in _PROTOCOL:
        if name != line.field:
            yield "RS102", f'{shown} is not "{line.field}"; {edition.name} reads it all the same.'
        elif line.field == "sitemap" and not edition.other_fields:
            yield "RS103", f"{edition.name} knows no sitemap lines and ignores this one."
    elif name in EXTENSIONS:
        if not edition.other_fields:
            yield "RS103", f"{edition.name} knows no {shown} and ignores the line."
    elif meant := meant_field(name):
        yield "RS102", f'{shown} looks like "{meant}" misspelt; {edition.name} ignores the line.'
    else:
        yield "RS103", f"{shown} is no field of the protocol; {edition.name} ignores the line."


def check_agent(line: Line, edition: Edition) -> Iterator[Remark]:
    """Whether a user-agent line names one crawler and nothing else (UAG-03, UAG-09, UAG-10)."""
    name = named_agent(line.value, edition)
    if not name:
        read = "takes it for the empty name" if name == "" else "sees no name in it"
        yield "RS202", f"The line names no crawler; {edition.name} {read}."
    elif name != decode(line.value):
        meant = "everyone" if name == DEFAULT else f'"{name[:_SHOWN]}"'
        yield (
            "RS203",
            f"Text behind the name does not count; {edition.name} reads {meant}.",
        )


def check_path(line: Line, edition: Edition) -> Iterator[Remark]:
    """What is odd about the path of a rule (RUL-04, PAT-02, PAT-03, PAT-07, PAT-12)."""
    path, name = line.value, edition.name
    if not path.startswith(b"/") and not (
        path.startswith(b"*") and edition.slashless is Slashless.PATTERN
    ):
        assumed = edition.slashless is Slashless.ASSUMED
        read = "puts it in front" if assumed else "never follows the rule"
        yield "RS301", f"The path does not start with a slash; {name} {read}."
    if edition.wildcards:
        yield from _wildcards(path, edition)
    elif b"*" in path or b"$" in path:
        yield (
            "RS306",
            f"Stars and dollars are not special here; {name} compares them as they stand.",
        )
    if _NO_ESCAPE.search(path):
        yield "RS308", f"A percent sign starts no escape; {name} compares it as it stands."
    if b" " in path:
        read = "reads it as %20" if edition.decode_unreserved else "compares it as it stands"
        yield "RS309", f"There is a blank within the path, which is one path; {name} {read}."
    if _DIRECTORY.fullmatch(path):
        yield (
            "RS901",
            f"A directory wants a slash at its end; {name} takes every path that starts so.",
        )


def _wildcards(path: bytes, edition: Edition) -> Iterator[Remark]:
    if b"$" in path[:-1]:
        yield (
            "RS302",
            f"A dollar before the end is an ordinary character; {edition.name} sees no end there.",
        )
    if len(path) > 1 and path.endswith(b"*"):
        counts = "in the length only" if edition.count_trailing_star else "for nothing"
        yield (
            "RS305",
            f"A star at the end matches what is matched anyway; {edition.name} counts it {counts}.",
        )


def check_other(line: Line, edition: Edition) -> Iterator[Remark]:
    """The values of lines beyond the protocol (SIT-03, EXT-01)."""
    if not edition.other_fields:
        return
    if line.field == "sitemap" and not is_absolute(decode(line.value)):
        yield (
            "RS401",
            f"A sitemap needs an absolute URL in one piece; {edition.name} does not offer it.",
        )
    elif line.field == "crawl-delay" and not _NUMBER.fullmatch(line.value):
        yield "RS402", f"A crawl-delay is a number of seconds; {edition.name} ignores this one."
