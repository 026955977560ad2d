"""Tokens that an edition accepts, out of generated ones (UAG-11)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scrapy_robotspec.editions import Edition, get_edition


def accepted(tokens: str | Sequence[str], edition: str | Edition) -> tuple[str, ...]:
    """Those of the tokens that a group can be found under."""
    asked = (tokens,) if isinstance(tokens, str) else tuple(tokens)
    edition = get_edition(edition)
    if edition.whole_agent_names or edition.empty_tokens:
        return asked
    return tuple(token for token in asked if re.fullmatch(r"[A-Za-z_-]+|\*", token))
