"""Parsers in other languages that the suite knows: a program around each, in ``peers/``.

A program responds to requests as README.md says, and writes its parser's version where its only
argument is ``--version``. A compiled one is built as its first lines say, and is found by an
environment variable.
"""

from __future__ import annotations

import os
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
    """The command that runs the source; empty for a compiled program."""
    source: str
    """Name of the program's file."""
    install: str
    """What makes the parser available, mostly a command in the folder above this one."""
    claims: tuple[str, ...]
    """Specifications that the parser claims to follow."""
    claim: str
    """Its claim in our words."""
    link: str
    variable: str = ""
    """Environment variable that names the compiled program."""

    def command(self) -> list[str]:
        """The command that responds to requests."""
        if self.variable:
            return [os.environ.get(self.variable, "")]
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
        Program(
            "grobotstxt",
            "Go",
            "",
            "grobotstxt.go",
            "build conformance/peers/grobotstxt.go, then set GROBOTSTXT to the path of the program",
            ("google",),
            "All behaviour of Google's matcher, as a port to Go; but URLs are normalised, and "
            "invalid ones disallowed.",
            "https://github.com/jimsmart/grobotstxt",
            "GROBOTSTXT",
        ),
    )
}
