"""The crawlers that a command line asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.session import Crawler
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.parsed_file import ParsedFile

_TOKEN = re.compile(r"[A-Za-z_-]+")


def check_tokens(tokens: Sequence[str], edition: Edition) -> Crawler:
    """The tokens of a command line. Raises :class:`MisuseError` for one that no group can have."""
    for token in tokens:
        _check_token(token, edition)
    return tuple(token for token in tokens if token != "*")


def _check_token(token: str, edition: Edition) -> None:
    if edition.whole_agent_names or token == "*" or _TOKEN.fullmatch(token):
        return
    leading = _TOKEN.match(token)
    remedy = f"; a group for it names {leading[0]}: give --token {leading[0]}" if leading else ""
    raise MisuseError(
        f"{token!r} is not a product token, which has only letters, hyphens and underscores{remedy}"
    )


def crawlers(
    tokens: Sequence[str], each: bool, default: Crawler, files: Sequence[ParsedFile]
) -> list[Crawler]:
    """Every crawler to ask for: that of the command line, or each that the files name."""
    if each and tokens:
        raise MisuseError("--token and --each-token exclude each other")
    if each:
        return named_crawlers(files)
    edition = files[0].robots.edition
    return [check_tokens(tokens, edition) if tokens else default]


def named_crawlers(files: Sequence[ParsedFile]) -> list[Crawler]:
    """Each crawler that one of the files names, as first written, then any other."""
    names: dict[str, str] = {}
    for file in files:
        for token in file.tokens:
            names.setdefault(token.lower(), token)
    return [*((name,) for name in names.values()), ()]
