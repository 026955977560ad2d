"""Parsers in other languages that the suite knows: a program around each, in ``peers/``.

A program responds to requests as README.md says, and writes its parser's version where its only
argument is ``--version``.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache

from conformance.cases import HERE


@dataclass(frozen=True)
class Program:
    """A program around a parser, and the parser's claims."""

    name: str
    language: str
    interpreter: str
    source: str
    """Name of the program's file."""
    install: str
    """A command that installs the parser, in the folder above this one."""
    claims: tuple[str, ...]
    """Specifications that the parser claims to follow."""
    claim: str
    """Its claim in our words."""
    link: str

    def command(self) -> list[str]:
        """The command that responds to requests."""
        return [self.interpreter, str(HERE / "peers" / self.source)]

    def version(self) -> str | None:
        """The installed version, or None."""
        return _output(*self.command(), "--version")


@cache
def _output(*command: str) -> str | None:
    """What a command writes; None if it fails or cannot be started."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


PROGRAMS = {
    program.name: program
    for program in (
        Program(
            "robots-parser",
            "JavaScript",
            "node",
            "robots-parser.mjs",
            "npm install --no-save robots-parser",
            ("rfc9309", "extensions"),
            "The draft that became RFC 9309, and crawl-delay.",
            "https://github.com/samclarke/robots-parser",
        ),
        Program(
            "WWW::RobotRules",
            "Perl",
            "perl",
            "robotrules.pl",
            "cpan WWW::RobotRules",
            ("original-1994",),
            "The convention of 1994.",
            "https://metacpan.org/pod/WWW::RobotRules",
        ),
    )
}
