"""The crawlers that a command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.protocol.agents import product_tokens, tokens_from_user_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.session import Crawler
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.parsed_file import ParsedFile


def check_tokens(tokens: Sequence[str], edition: Edition) -> Crawler:
    """The product tokens of a command line.

    Raises :class:`MisuseError` for a token that no group can have.
    """
    try:
        return product_tokens(list(tokens), edition)
    except ValueError as error:
        raise MisuseError(f"--token must be {error}") from None


def in_edition(crawler: Crawler, edition: Edition) -> Crawler:
    """The product tokens that an edition reads from names (UAG-11)."""
    return tuple(token for name in crawler for token in tokens_from_user_agent(name, edition))


def crawlers(
    tokens: Sequence[str], each: bool, default: Crawler, files: Sequence[ParsedFile]
) -> list[Crawler]:
    """The crawlers to decide for.

    ``each``: every crawler that the files name; else the one of the command line.
    """
    if each and tokens:
        raise MisuseError("--token and --each-token exclude each other")
    if each:
        return named_crawlers(files)
    edition = files[0].robots.edition
    return [check_tokens(tokens, edition) if tokens else default]


def named_crawlers(files: Sequence[ParsedFile]) -> list[Crawler]:
    """Each crawler that a file names, then any other."""
    names: dict[str, str] = {}
    for file in files:
        for token in file.tokens:
            names.setdefault(token.lower(), token)
    return [*((name,) for name in names.values()), ()]
