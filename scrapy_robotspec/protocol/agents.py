"""Agent names: the name on a user-agent line, and the names that a crawler's tokens follow."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.models import DEFAULT, decode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scrapy_robotspec.editions import Edition

# product-token = identifier / "*"; what follows it is ignored (UAG-03).
_IDENTIFIER = re.compile(rb"[A-Za-z_-]*")
_LOWER = {ord(letter): letter.lower() for letter in string.ascii_uppercase}


def named_agent(value: bytes, edition: Edition) -> str | None:
    """The agent that a user-agent line names, as written, or None (UAG-03, UAG-09, UAG-10)."""
    if edition.whole_agent_names:
        value = value.partition(b"/")[0].rstrip(edition.whitespace)
    if value.startswith(b"*"):
        if not value[1:2].strip(edition.whitespace):
            return DEFAULT
        return "" if edition.empty_tokens else None
    if edition.whole_agent_names:
        return decode(value) or None
    token = _IDENTIFIER.match(value)[0].decode("ascii")  # type: ignore[index]  # may be empty
    return token if token or edition.empty_tokens else None


def key_of(name: str, edition: Edition) -> str:
    """The key that names are compared by (UAG-02)."""
    return fold(name, edition.case_sensitive_tokens)


def fold(name: str, cased: bool) -> str:
    """A name in lower case (ASCII only), unless case counts."""
    if cased:
        return name
    return name.lower() if name.isascii() else name.translate(_LOWER)


def followed_keys(
    present: Collection[str], tokens: Sequence[str], edition: Edition
) -> tuple[str, ...]:
    """The keys present in a file that a crawler with these tokens follows (UAG-01, UAG-07)."""
    followed: dict[str, None] = {}
    for token in tokens:
        followed.update(dict.fromkeys(_matching(present, key_of(token, edition), edition)))
        if followed and not edition.combine_tokens:
            break
    if followed:
        return tuple(followed)
    return (DEFAULT,) if DEFAULT in present else ()  # UAG-05


def _matching(present: Collection[str], token: str, edition: Edition) -> list[str]:
    """The most specific keys that still match one token; usually one or none."""
    if edition.agent_match is AgentMatch.CONTAINED:
        return _longest_contained(present, token.partition("/")[0].strip())
    for candidate in candidates(token, edition.agent_match is AgentMatch.HYPHEN_PREFIX):
        if candidate in present and candidate != DEFAULT:
            return [candidate]
    return []


def candidates(token: str, hyphens: bool) -> Iterator[str]:
    """The keys that match a token, the longest first (UAG-04)."""
    yield token
    while hyphens and "-" in token:
        token = token.rpartition("-")[0]
        if token:
            yield token


def _longest_contained(present: Collection[str], name: str) -> list[str]:
    """UAG-10: names contained in the crawler's; equally long ones are combined, sorted."""
    matching = [key for key in present if key and key != DEFAULT and key in name]
    longest = max(map(len, matching), default=0)
    return sorted(key for key in matching if len(key) == longest)
