"""A reading of draft-koster-robots-00 (1996), written from the draft alone.

The cases of ``conformance/tables/draft-1996.toml`` are held against it. It shares nothing with
the package, which has no edition that reads files in this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

#: Section 3.3: a token and a colon start a line, a number sign ends it; white space may follow.
LINE = re.compile(
    rb"(?P<field>[^\0- \x7f()<>@,;:\\\"/\[\]?={}]+):[ \t]*(?P<value>[^#]*?)[ \t]*(#.*)?"
)
COMMENT = re.compile(rb"[ \t]*#.*")
BLANK = re.compile(rb"[ \t]*")
#: Section 3.2.2: an escape is decoded unless it is that of a slash, which has two spellings.
ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
ESCAPED_SLASH = b"%2F"


@dataclass(frozen=True)
class Rule:
    """An Allow or Disallow line."""

    allow: bool
    path: bytes
    line: int


@dataclass(frozen=True)
class Record:
    """The User-agent lines of a record, and its rules in file order."""

    agents: tuple[bytes, ...]
    rules: tuple[Rule, ...]


def rule_on(body: bytes, url: str, token: str) -> tuple[bool, int]:
    """The verdict, and the deciding line or 0 (3.2.1, 3.2.2)."""
    path = decoded(urlsplit(url).path.encode())
    if path == b"/robots.txt":
        return True, 0
    for rule in record_for(body, token.encode()).rules:
        if rule.path and path.startswith(decoded(rule.path)):
            return rule.allow, rule.line
    return True, 0


def record_for(body: bytes, token: bytes) -> Record:
    """The first record whose value contains the name, else of ``*``."""
    records = [*records_of(body)]
    named = [each for each in records if any(token.lower() in agent for agent in each.agents)]
    others = [each for each in records if b"*" in each.agents]
    return (named or others or [Record((), ())])[0]


def records_of(body: bytes) -> Iterator[Record]:
    """Section 3.2: blank lines separate records; comment lines are not blank."""
    agents: list[bytes] = []
    rules: list[Rule] = []
    for number, line in enumerate(re.split(rb"\r\n|\r|\n", body), 1):
        if BLANK.fullmatch(line):
            yield Record(tuple(agents), tuple(rules))
            agents, rules = [], []
        elif not COMMENT.fullmatch(line) and (parts := LINE.fullmatch(line)):
            field, value = parts["field"].lower(), parts["value"]
            if field == b"user-agent":
                agents.append(value.lower())
            elif field in (b"allow", b"disallow"):
                rules.append(Rule(field == b"allow", value, number))
    yield Record(tuple(agents), tuple(rules))


def decoded(path: bytes) -> bytes:
    """A path as its bytes are compared."""
    return ESCAPE.sub(lambda escape: _octet(escape[1]), path)


def _octet(digits: bytes) -> bytes:
    byte = bytes.fromhex(digits.decode())
    return ESCAPED_SLASH if byte == b"/" else byte
