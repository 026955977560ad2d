"""Documents: one robots.txt response each, and what it means for the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Meaning, meaning, without_user_info
from scrapy_robotspec.access.redirects import redirect_target

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
#: Redirects that are followed; the response to the next request counts as a 404 (FET-03).
MAX_REDIRECTS = 5

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
    """The redirect's Location, as received."""
    error: str | None = None
    """Why the body is incomplete or cannot be decoded (FET-14)."""
    source: str | None = None
    """Where the document was read."""
    followed: tuple[str, ...] = ()
    """Targets of the redirects that led from ``url`` to this response."""

    @property
    def origin(self) -> str | None:
        """Scheme, host and port; None where they are not known."""
        origin = None if self.url is None else Origin.of(self.url)
        return None if origin is None else str(origin)

    @property
    def target(self) -> str | None:
        """URL that a redirect leads to, without user info.

        None if it leads nowhere (FET-07).
        """
        if self.status is None or self.status not in _REDIRECTS or self.location is None:
            return None
        url = self.followed[-1] if self.followed else self.url or ""
        location = self.location.encode("utf-8", "replace").decode("latin-1")  # as it is sent
        found = redirect_target(url, Exchange(url, self.status, (("Location", location),)))
        return None if found is None else without_user_info(found)

    @property
    def redirects(self) -> tuple[str, ...]:
        """The targets of all redirects, in order.

        The last one is that of a redirect that was not followed, if there is one.
        """
        target = self.target
        return self.followed if target is None else (*self.followed, target)

    def outcome(self, edition: Edition) -> OutcomeName:
        """The meaning of the response (FET-02 to FET-16)."""
        if self.status is None:
            return "successful" if self.body is not None and not self.error else "unreachable"
        error = None
        if self.status in _REDIRECTS or self.followed:
            error = self._redirect_error(edition)
            if error is None and self.target is not None:
                return "redirect"
        result = FetchResult(status=self.status, complete=self.error is None, redirect_error=error)
        return _OUTCOMES[meaning(result, edition)]

    def _redirect_error(self, edition: Edition) -> str | None:
        """Why the redirects count as a 404 (FET-03, FET-18)."""
        redirects = self.redirects
        if len(redirects) > MAX_REDIRECTS:
            return "too many redirects"
        if self.url is not None and not all(map(_is_http, redirects)):
            return "foreign scheme"
        requested = (self.url, *redirects)
        if edition.recognises_redirect_loops and len(set(requested)) < len(requested):
            return "loop"
        return None


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://")) and Origin.of(url) is not None
