"""The product token setting: a token, a list or a function.

Which source counts for a request is chosen in ``deciding/token_selector.py``; the reading of tokens
is in ``protocol/agents.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import (
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    isroutine,
    signature,
)
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from scrapy_robotspec.protocol.agents import product_tokens

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.editions import Edition

Tokens = tuple[str, ...]
Chooser = Callable[["Request", "Crawler"], Any]

_IMPORT_PATH = re.compile(r"[^\W\d]\w*([.:][^\W\d]\w*)+")


def token_source(raw: Any, edition: Edition) -> Tokens | Chooser | None:
    """Read ROBOTSPEC_USER_AGENT_TOKEN; raises ``ValueError`` for a wrong value."""
    if raw is None or raw == "":
        return None
    if isinstance(raw, str):
        if _IMPORT_PATH.fullmatch(raw):
            raw = _imported(raw)
        elif raw.lstrip().startswith("[") or "," in raw:
            return product_tokens([t.strip(" []\"'") for t in raw.split(",")], edition)
    if callable(raw):
        return _checked(raw)
    return product_tokens(raw, edition)


def _imported(path: str) -> Any:
    if ":" in path:
        raise ValueError(f"the import path of a function with dots: {path.replace(':', '.')!r}")
    try:
        found = load_object(path)
    except (ImportError, NameError) as error:
        raise ValueError(f"the import path of a function ({error})") from error
    if not callable(found):
        raise ValueError(f"the import path of a function f(request, crawler), not {found!r}")
    return found


def _checked(function: Any) -> Chooser:
    """*function*, if it can be called as f(request, crawler) and returns at once."""
    wanted = "a function f(request, crawler) that returns a token or a list of tokens"
    if isinstance(function, type):
        raise ValueError(f"{wanted}, not the class {function.__name__}")
    called = function if isroutine(function) else type(function).__call__
    for each in (function, called):
        if iscoroutinefunction(each) or isasyncgenfunction(each) or isgeneratorfunction(each):
            raise ValueError(f"{wanted}: define it with 'def', without 'async' and 'yield'")
    try:
        signature(function).bind(None, None)
    except TypeError as problem:
        raise ValueError(f"{wanted}; with these two arguments: {problem}") from None
    except ValueError:  # a function in C without a signature
        pass
    return function  # type: ignore[no-any-return]


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
