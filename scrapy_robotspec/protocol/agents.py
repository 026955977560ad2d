"""Agent names and product tokens, and how they match.

A product token is letters, ``-`` and ``_`` (UAG-03); editions that compare whole names take any
name (UAG-10). No tokens at all, or ``*``, ask for the default group only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import CONTAINED, HYPHEN_PREFIX, Edition
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS, decode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


#: Product tokens, names of crawlers or keys of groups.
Names = tuple[str, ...]
#: A crawler's product tokens, the most specific first; or the only one.
Tokens = str | Names

# RFC 9309 section 2.2:
#     product-token = identifier / "*"
#     identifier = 1*(%x2D / %x41-5A / %x5F / %x61-7A)
# In a file it may be missing, and what follows is ignored (UAG-03); google names the empty token.
_IDENTIFIER = re.compile(rb"[A-Za-z_-]*")
_TOKEN = re.compile(r"[A-Za-z_-]+")
# RFC 9110 section 10.1.5:
#     User-Agent = product *( RWS ( product / comment ) )
#     product = token ["/" product-version]
# Browsers' names stand first; the crawler's own follows "compatible;" in a comment (UAG-11).
_COMPATIBLE = re.compile(r"compatible\s*;", re.IGNORECASE)
_END_OF_NAME = re.compile(r"[/(;),]|\s\+?https?:")
_WANTED = "a product token (letters, '-' and '_'), or a list of them, the most specific first"
#: Hyphens of a token, squared, for each name of a file: a token with more of them is compared with
#: the names, so that no file makes it costly to look up what another file names.
_NAMES_FOR_HYPHENS = 100
#: Max letters of names whose pairs are searched: each line is compared with all of them.
_LONG_NAME = 64
#: Max crawlers whose keys are kept: they ask about many files.
_RECENT = 256
_DEFAULT_ONLY = (DEFAULT,)
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def named_agent(value: bytes, edition: Edition) -> str | None:
    """The agent a user-agent line names (UAG-03, UAG-09, UAG-10)."""
    if edition.whole_agent_names:
        value = value.partition(b"/")[0].rstrip(edition.whitespace)
    if value.startswith(b"*"):
        next_byte = value[1:2]
        if not next_byte.strip(edition.whitespace):
            return DEFAULT
        if edition.star_ignores_text and not _IDENTIFIER.match(next_byte)[0]:  # type: ignore[index]
            return DEFAULT
        return "" if edition.empty_tokens else None
    if edition.whole_agent_names:
        return decode(value) or None
    token = _IDENTIFIER.match(value)[0].decode("ascii")  # type: ignore[index]  # may be empty
    return token if token or edition.empty_tokens else None


def product_name(user_agent: str) -> str:
    """The crawler's name in a User-Agent header: after ``compatible;``, else before ``/``."""
    _, *behind = _COMPATIBLE.split(user_agent, maxsplit=1)
    for text in (*behind, user_agent):
        if name := _END_OF_NAME.split(text.strip(), maxsplit=1)[0].strip():
            return name
    return ""


def tokens_from_user_agent(user_agent: str, edition: Edition) -> Names:
    """The product token of a User-Agent header (UAG-11), or ``()``."""
    name = product_name(user_agent)
    if not edition.whole_agent_names:
        leading = _TOKEN.match(name)
        name = leading[0] if leading else ""
    return (name,) if name and name != DEFAULT else ()


def product_tokens(value: object, edition: Edition) -> Names:
    """Check the product tokens that a user gave (UAG-11).

    A whole User-Agent header is cut to its product token; ``*`` stands for the default group, so
    ``"*"`` alone gives ``()``. Raises ``ValueError`` for a value that no group can be found under.
    """
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not values:
        raise ValueError(_WANTED)
    tokens = dict.fromkeys(_product_token(each, edition) for each in values)
    return tuple(token for token in tokens if token != DEFAULT)


def _product_token(value: object, edition: Edition) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_WANTED}, not {value!r}")
    name = product_name(value) if "/" in value else value.strip()
    if label := POLICY_TOKENS.get(name.lower()):
        raise ValueError(f"{_WANTED}, not {value!r}, which names a use of pages, {label}")
    if not name or not (name == DEFAULT or edition.whole_agent_names or _TOKEN.fullmatch(name)):
        raise ValueError(f"{_WANTED}, not {value!r}{_where_found(value, edition)}")
    return name


def _where_found(value: str, edition: Edition) -> str:
    found = tokens_from_user_agent(value, edition)
    return f"; its group is found under {found[0]!r}" if found else ""


def key_of(name: str, edition: Edition) -> str:
    """The key that names are compared by (UAG-02).

    In lower case (ASCII only), unless case counts.
    """
    if edition.case_sensitive_tokens:
        return name
    return name.lower() if name.isascii() else name.translate(_LOWER)


@lru_cache(_RECENT)
def asked_keys(tokens: Tokens, edition: Edition) -> Names:
    """The key of each token (UAG-02); a token ``*`` has none.

    Raises ``ValueError`` for a token that no group can be found under (UAG-11), unless the edition
    compares any token as it is; ``TypeError`` for a token that is not a string.
    """
    tokens = (tokens,) if isinstance(tokens, str) else tokens
    any_token = edition.whole_agent_names or edition.empty_tokens
    for token in tokens:
        if not isinstance(token, str):  # bytes are a sequence of integers
            raise TypeError(f"a product token must be str, not {type(token).__name__}")
        if not (any_token or token == DEFAULT or _TOKEN.fullmatch(token)):
            raise ValueError(
                f"no group can be found under {token!r}: a product token is letters, '-' and '_'"
                f"{_where_found(token, edition)}"
            )
    return tuple([key_of(token, edition) for token in tokens if token != DEFAULT])


def keys_of(key: str, edition: Edition) -> Iterator[str]:
    """The keys that match that of a token, the longest first (UAG-04)."""
    yield key
    while "-" in key and edition.agent_match is HYPHEN_PREFIX:
        key = key.rpartition("-")[0]
        if key:
            yield key


@lru_cache(_RECENT)
def beginnings_of(tokens: Tokens, edition: Edition) -> tuple[bytes, ...]:
    """Beginnings, in lower case, of values that may name a crawler.

    The default group, and values behind white space, are among them; names of one letter in
    editions that look for names in the crawler's are not. Raises as :func:`asked_keys` does.
    """
    keys = asked_keys(tokens, edition)
    if edition.agent_match is not CONTAINED:
        parts = [key[:1] + key[1:].partition("-")[0] for key in keys]  # UAG-04
    elif len(joined := " ".join(keys)) > _LONG_NAME or not joined.isascii():
        return ()
    else:
        parts = [joined[at : at + 2] for at in range(len(joined) - 1)]  # UAG-10
    beginnings = dict.fromkeys(part.encode("utf-8", "surrogatepass").lower() for part in parts)
    return (*beginnings, b"*", b" ", b"\t")


def followed_keys(present: Collection[str], keys: Iterable[str], edition: Edition) -> Names:
    """The keys that a crawler with some keys follows (UAG-01, UAG-07)."""
    followed: Names = ()
    contained = edition.agent_match is CONTAINED
    for asked in keys:
        if contained:
            found = _longest_contained(present, asked.partition("/")[0].strip())
        elif asked in present:
            found = (asked,)
        elif "-" in asked and edition.agent_match is HYPHEN_PREFIX:
            found = _longest_before_hyphen(present, asked, edition)
        else:
            continue
        if followed:
            found = tuple(key for key in found if key not in followed)
        followed += found
        if followed and not edition.combine_tokens:
            break
    return followed or (_DEFAULT_ONLY if DEFAULT in present else ())  # UAG-05


def _longest_before_hyphen(present: Collection[str], asked: str, edition: Edition) -> Names:
    """UAG-04: the longest name that the crawler's continues with a hyphen."""
    if asked.count("-") ** 2 < _NAMES_FOR_HYPHENS * len(present):
        for key in keys_of(asked, edition):
            if key in present:
                return (key,)
        return ()
    longest = max((key for key in present if asked.startswith(f"{key}-")), key=len, default="")
    return (longest,) if longest else ()


def _longest_contained(present: Collection[str], name: str) -> Names:
    """UAG-10: names contained in the crawler's; equally long ones are combined, sorted."""
    matching = [key for key in present if key in name and key and key != DEFAULT]
    if not matching:  # as for most crawlers
        return ()
    longest = max(map(len, matching))
    return tuple(sorted(key for key in matching if len(key) == longest))
