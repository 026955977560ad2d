"""Parsers in other languages that the suite knows: a program around each, in ``peers/``.

A program responds to requests as README.md says, and writes its parser's version where its only
argument is ``--version``. The first lines of some say how to build them or where to get the parser;
an environment variable then says where the result is.
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
    run: tuple[str, ...]
    """The command: ``{source}`` is the path of the source, ``{path}`` the variable's value."""
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
    """Environment variable that names the compiled program or the parser's library."""

    def command(self) -> list[str]:
        """The command that responds to requests."""
        names = {"source": HERE / "peers" / self.source, "path": os.environ.get(self.variable, "")}
        return [part.format_map(names) for part in self.run]

    def version(self) -> str | None:
        """The installed version, or None."""
        if self.variable and not os.environ.get(self.variable):
            return None
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
            ("node", "{source}"),
            "robots-parser.mjs",
            "npm install --no-save robots-parser",
            ("rfc9309", "extensions"),
            "The draft that became RFC 9309, and crawl-delay.",
            "https://github.com/samclarke/robots-parser",
        ),
        Program(
            "WWW::RobotRules",
            "Perl",
            ("perl", "{source}"),
            "robotrules.pl",
            "cpan WWW::RobotRules",
            ("original-1994",),
            "The convention of 1994.",
            "https://metacpan.org/pod/WWW::RobotRules",
        ),
        Program(
            "grobotstxt",
            "Go",
            ("{path}",),
            "grobotstxt.go",
            "build conformance/peers/grobotstxt.go, then set GROBOTSTXT to the path of the program",
            ("google",),
            "All behaviour of Google's matcher, as a port to Go; but URLs are normalised, and "
            "invalid ones disallowed.",
            "https://github.com/jimsmart/grobotstxt",
            "GROBOTSTXT",
        ),
        Program(
            "itechbear/robotstxt",
            "Java",
            ("java", "-Dfile.encoding=UTF-8", "-cp", "{path}", "{source}"),
            "RobotsTxtJava.java",
            "get the JAR as conformance/peers/RobotsTxtJava.java says, then set ROBOTSTXT_JAR to "
            "its path",
            ("google",),
            "Google's matcher at commit 750aec7, as a port to Java.",
            "https://github.com/itechbear/robotstxt",
            "ROBOTSTXT_JAR",
        ),
    )
}
