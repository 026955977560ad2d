"""MetaKeys: warns of ``robotspec_*`` keys in request meta that have no effect."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.plugin.settings.tokens import META_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger("scrapy_robotspec")

_KNOWN = (META_KEY,)
#: Max meta keys remembered as checked.
_MAX_SEEN = 1000


class MetaKeys:
    """Checks each meta key of a crawl once."""

    def __init__(self) -> None:
        self.seen: set[Any] = {"robotspec", *_KNOWN}
        """Keys that need no check."""
        self._warned: set[str] = set()

    def check(self, meta: Mapping[Any, Any]) -> None:
        """Warn about unknown keys in *meta* with our prefix."""
        for key in meta:
            if key in self.seen or key in self._warned:
                continue
            if isinstance(key, str) and key.lower().startswith("robotspec_"):
                self._warn(key)
        if len(self.seen) < _MAX_SEEN:
            self.seen.update(meta)

    def _warn(self, key: str) -> None:
        if len(self._warned) < _MAX_SEEN:
            self._warned.add(key)
            close = difflib.get_close_matches(key, _KNOWN, 1, 0.5)
            hint = f": use {close[0]!r}" if close else f" (known: {', '.join(map(repr, _KNOWN))})"
            logger.warning("request.meta[%a] has no effect, the key is unknown%s.", key, hint)
