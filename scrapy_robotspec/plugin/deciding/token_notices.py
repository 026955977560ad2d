"""Log lines about derived and unusual product tokens (UAG-12)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import product_name

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.settings.product_tokens import Tokens

logger = logging.getLogger("scrapy_robotspec")

#: Max different tokens that get a log line.
_MAX_NOTICES = 20
#: Product names that many crawlers share.
_SHARED_NAMES = ("mozilla", "scrapy")


class TokenNotices:
    """Writes each notice once."""

    def __init__(self) -> None:
        self._noticed: set[Tokens] = set()

    def derived(self, user_agent: str, tokens: Tokens, source: str) -> None:
        """*tokens* were derived from *user_agent*, which *source* contains."""
        if tokens in self._noticed or len(self._noticed) >= _MAX_NOTICES:
            return
        self._noticed.add(tokens)
        if tokens:
            logger.info(
                "The product token for robots.txt is %s, derived from %s. "
                "ROBOTSPEC_USER_AGENT_TOKEN sets another.",
                ascii(tokens[0]),
                source,
            )
        self.doubt(user_agent, tokens, source)

    def doubt(self, user_agent: str, tokens: Tokens, source: str) -> None:
        """Warn if a site's group is unlikely to match *tokens*."""
        name = product_name(user_agent)
        if name == "*":
            return
        if not tokens:
            problem = "has no product token, so only groups for '*' are followed"
        elif tokens[0].lower() in _SHARED_NAMES:
            problem = f"names {tokens[0]!r}, which many crawlers share"
        elif tokens[0] != name:
            problem = f"names {name!a}, no legal product token: {tokens[0]!r} is looked for"
        else:
            return
        logger.warning(
            "%s %s. Set ROBOTSPEC_USER_AGENT_TOKEN to the name by which sites know your crawler.",
            source[0].upper() + source[1:],
            problem,
        )

    def compare(self, name: str, tokens: Tokens, user_agent: str, source: str) -> None:
        """Warn if the User-Agent contains no token of *name* (UAG-12)."""
        sent = user_agent.lower()
        if tokens and sent and not any(token.lower() in sent for token in tokens):
            logger.warning(
                "%s is %s, which is not part of the User-Agent sent, %s (%s): sites cannot "
                "recognise your crawler. Set %s to a value that contains the token.",
                name,
                ", ".join(map(ascii, tokens)),
                ascii(user_agent),
                source,
                source,
            )

    def unknown_header(self, tokens: Tokens, source: str) -> None:
        """Warn that *tokens* may not be those of the User-Agent sent."""
        logger.warning(
            "ROBOTSPEC_USER_AGENT_TOKEN is not set and Scrapy's UserAgentMiddleware is off: rules "
            "are looked up for %s, derived from %s, whatever User-Agent is sent. Set "
            "ROBOTSPEC_USER_AGENT_TOKEN.",
            ascii(tokens[0]) if tokens else "'*'",
            source,
        )
