"""The parsers of ``peers.json``: claims, versions and commands.

A Python parser is named by its ``distribution`` and asked by ``adapters.py``; another one by
``run``: an interpreter and a file of ``peers/``, which writes its parser's version where its only
argument is ``--version``. ``wrapped``: the distribution contains a parser of another project.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from conformance.cases import HERE

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Parser:
    """A parser as ``peers.json`` describes it."""

    name: str
    language: str
    claims: tuple[str, ...]
    """Specifications that it claims to follow."""
    claim: str
    link: str
    install: str
    """A command that makes it available, in the folder above this one."""
    distribution: str = ""
    """Name of its distribution; empty for the standard library."""
    wrapped: bool = False
    run: tuple[str, ...] = ()
    """For a parser in another language: the interpreter and the file in ``peers/``."""

    def command(self) -> list[str]:
        """The command that responds to requests."""
        if self.run:
            return [*self.run[:-1], str(HERE / "peers" / self.run[-1])]
        return [sys.executable, "-m", "conformance.serve", self.name]

    def version(self) -> str | None:
        """The installed version, or None."""
        if self.run:
            return _output(*self.command(), "--version")
        if not self.distribution:
            return f"of Python {platform.python_version()}"
        try:
            version = metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None
        return f"in {self.distribution} {version}" if self.wrapped else version


@cache
def _output(*command: str) -> str | None:
    """The output of a command; None if it fails or cannot be started."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _read() -> dict[str, Parser]:
    entries: dict[str, dict[str, Any]] = json.loads((HERE / "peers.json").read_text("utf-8"))
    for entry in entries.values():
        entry.update({key: tuple(entry[key]) for key in ("claims", "run") if key in entry})
    return {name: Parser(name, **entry) for name, entry in entries.items()}


PARSERS: Mapping[str, Parser] = _read()
