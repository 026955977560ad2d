"""The crawlers that a command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.protocol.agents import product_tokens, tokens_from_user_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.session import Crawler
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.parsed_file import ParsedFile


class CrawlerOptions(NamedTuple):
    """Options that name crawlers."""

    tokens: Sequence[str] = ()
    """Product tokens of one crawler; none for the default one."""
    each: bool = False
    """Whether every crawler is meant that the files name."""

    def check(self) -> None:
        """Raise :class:`MisuseError` for options that exclude each other."""
        if self.each and self.tokens:
            raise MisuseError("--token and --each-token exclude each other")


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


def find_crawlers(
    options: CrawlerOptions, files: Sequence[ParsedFile], default: Crawler | None
) -> list[Crawler]:
    """The crawlers to decide for.

    Without options: *default*, or, if that is None, every crawler that the files name.
    """
    options.check()
    if options.tokens:
        return [check_tokens(options.tokens, files[0].robots.edition)]
    return named_crawlers(files) if options.each or default is None else [default]


def named_crawlers(files: Sequence[ParsedFile]) -> list[Crawler]:
    """Each crawler that a file names, then any other."""
    names: dict[str, str] = {}
    for file in files:
        for token in file.tokens:
            names.setdefault(token.lower(), token)
    return [*((name,) for name in names.values()), ()]
