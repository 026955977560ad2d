"""Documents: one robots.txt response each, and what it means for the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Meaning, meaning

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Max bytes of a body that are read, hashed and counted; all editions read far fewer.
MAX_BODY = 16 * 1024 * 1024

#: Max number that can be a status at all; those from 600 on are invalid responses (FET-16).
MAX_STATUS = (1 << 31) - 1

#: The specifications' word for a fetch result; ``redirect``: the result is not in the input.
OutcomeName = Literal["successful", "unavailable", "unreachable", "redirect"]

_OUTCOMES: dict[Meaning, OutcomeName] = {
    Meaning.RULES: "successful",
    Meaning.ALLOW: "unavailable",
    Meaning.DISALLOW: "unreachable",
    Meaning.UNREACHABLE: "unreachable",
}
_REDIRECTS = range(300, 400)


class Document(NamedTuple):
    """One response, or a file whose response is not known."""

    url: str | None
    """URL of the robots.txt or of any page of the origin."""
    body: bytes | None
    """Decoded body; None: there is none."""
    status: int | None = None
    """HTTP status; None: not known, or no response at all if the body is None, too."""
    location: str | None = None
    """Target of a redirect that is not followed here."""
    error: str | None = None
    """Why the body is incomplete or cannot be decoded (FET-14)."""
    source: str | None = None
    """Where the document was read."""

    @property
    def origin(self) -> str | None:
        """Scheme, host and port; None where they are not known."""
        origin = None if self.url is None else Origin.of(self.url)
        return None if origin is None else str(origin)

    def outcome(self, edition: Edition) -> OutcomeName:
        """What the response means (FET-02 to FET-16)."""
        if self.status is None:
            return "successful" if self.body is not None and not self.error else "unreachable"
        if self.status in _REDIRECTS and self.location is not None:
            return "redirect"
        result = FetchResult(status=self.status, complete=self.error is None)
        return _OUTCOMES[meaning(result, edition)]
