"""The verdicts of ``plain``, sooner. Removing this package would change no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.compiled import CompiledFile

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition


def compile(body: bytes, edition: Edition) -> CompiledFile:  # noqa: A001  # as re.compile()
    """A matcher for the rules of a file; its groups are compiled when they are first used."""
    return CompiledFile(body, edition)
