"""From what people write to product tokens: a setting, a function's answer, a User-Agent header.

A product token is letters, ``-`` and ``_`` (UAG-03); editions that compare whole names take any
name (UAG-10). An empty tuple stands for no name at all: only groups for ``*`` are followed. Which
source counts for a request is chosen in ``token.py``; what a token matches is the protocol's
business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.editions import Edition

Tokens = tuple[str, ...]
Chooser = Callable[["Request", "Crawler"], Any]

_TOKEN = re.compile(r"[A-Za-z_-]+")
_IMPORT_PATH = re.compile(r"\w+(\.\w+)+")
_COMPATIBLE = re.compile(r"compatible\s*;", re.IGNORECASE)
_END_OF_NAME = re.compile(r"[/(;),]")
_WANTED = "a product token (letters, '-' and '_'), or a list of them, the most specific first"


def product_name(user_agent: str) -> str:
    """The crawler's name in a User-Agent header: after ``compatible;``, else before ``/``."""
    _, *behind = _COMPATIBLE.split(user_agent, maxsplit=1)
    for text in (*behind, user_agent):
        if name := _END_OF_NAME.split(text.strip(), maxsplit=1)[0].strip():
            return name
    return ""


def tokens_from_user_agent(user_agent: str, edition: Edition) -> Tokens:
    """The token to be found in a User-Agent header, or ``()``; never raises."""
    name = product_name(user_agent)
    if not edition.whole_agent_names:
        leading = _TOKEN.match(name)
        name = leading[0] if leading else ""
    return (name,) if name and name != "*" else ()


def product_tokens(value: Any, edition: Edition) -> Tokens:
    """What somebody gave as token or list of tokens; ValueError if it can be none.

    A whole User-Agent header is cut to its product; ``*`` asks for the default group only.
    """
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not values:
        raise ValueError(_WANTED)
    tokens: list[str] = []
    for each in values:
        token = _given_token(each, edition)
        if token != "*" and token not in tokens:
            tokens.append(token)
    return tuple(tokens)


def _given_token(value: Any, edition: Edition) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_WANTED}, not {value!r}")
    name = product_name(value) if "/" in value else value.strip()
    if not name or not (name == "*" or edition.whole_agent_names or _TOKEN.fullmatch(name)):
        found = tokens_from_user_agent(value, edition)
        hint = f"; a group named so is found under {found[0]!r}" if found else ""
        raise ValueError(f"{_WANTED}, not {value!r}{hint}")
    return name


def token_source(raw: Any, edition: Edition) -> Tokens | Chooser | None:
    """Reads ROBOTSPEC_USER_AGENT_TOKEN; ValueError if it is nothing of the kind."""
    if raw is None or raw == "":
        return None
    if isinstance(raw, str):
        if _IMPORT_PATH.fullmatch(raw):
            raw = _imported(raw)
        elif raw.lstrip().startswith("[") or "," in raw:
            return product_tokens([t.strip(" []\"'") for t in raw.split(",")], edition)
    if callable(raw):
        return raw  # type: ignore[no-any-return]
    return product_tokens(raw, edition)


def _imported(path: str) -> Any:
    try:
        found = load_object(path)
    except (ImportError, NameError) as error:
        raise ValueError(f"the import path of a function ({error})") from error
    if not callable(found):
        raise ValueError(f"the import path of a function f(request, crawler), not {found!r}")
    return found


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
