"""Documents: one robots.txt response each, and what it means for the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy_robotspec.access.exchange import redirect_target
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Meaning, meaning
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    import pyarrow as pa

    from scrapy_robotspec.editions import Edition

#: Max bytes of a body that are read, hashed and counted; all editions read far fewer.
MAX_BODY = 16 * 1024 * 1024

#: Max number that can be a status at all; those from 600 on are invalid responses (FET-16).
_MAX_STATUS = (1 << 31) - 1

_TEXTS = ("url", "location", "error", "source")

#: The specifications' word for a fetch result; ``redirect``: the result is not in the input.
OutcomeName = Literal["successful", "unavailable", "unreachable", "redirect"]

_OUTCOMES: dict[Meaning, OutcomeName] = {
    Meaning.RULES: "successful",
    Meaning.ALLOW: "unavailable",
    Meaning.DISALLOW: "unreachable",
    Meaning.UNREACHABLE: "unreachable",
}
_REDIRECTS = frozenset(range(300, 400)) - {304}


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

    @classmethod
    def of(cls, **values: Any) -> Document:
        """A document from the values of a table.

        Raises ``ValueError`` for a value of a wrong type."""
        given = cls(**values)
        for name in _TEXTS:
            text = getattr(given, name)
            if not isinstance(text, str | None):
                raise ValueError(f"{name} must be text, not {text!r:.99}")
        body: Any = given.body
        if isinstance(body, str):
            body = body.encode("utf-8", "surrogatepass")
        if not isinstance(body, bytes | None):
            raise ValueError(f"body must be bytes or text, not {body!r:.99}")
        return given._replace(body=body and body[:MAX_BODY], status=_status(given.status))

    @property
    def encodable(self) -> Document:
        """The document without lone surrogates.

        File names and JSON can contain them."""
        texts = {
            name: text.encode("utf-8", "backslashreplace").decode()
            for name in _TEXTS
            if (text := getattr(self, name)) and not text.isascii()
        }
        return self._replace(**texts)

    @property
    def origin(self) -> str | None:
        """Scheme, host and port; None where they are not known."""
        origin = Origin.of(self.url or "")
        return None if origin is None else str(origin)

    @property
    def target(self) -> str | None:
        """URL that a redirect leads to, without user info.

        None if it leads nowhere (FET-07).
        """
        if self.status not in _REDIRECTS or self.location is None:
            return None
        url = self.url or ""
        location = self.location.encode("utf-8", "replace").decode("latin-1")  # as it is sent
        return redirect_target(url, location)

    def outcome(self, edition: Edition) -> OutcomeName:
        """The meaning of the response (FET-02 to FET-16)."""
        if self.status is None:
            return "successful" if self.body is not None and not self.error else "unreachable"
        error = None
        target = self.target
        if target is not None:  # FET-03, FET-18
            is_http = target.startswith(("http://", "https://")) and Origin.of(target) is not None
            if self.url is not None and not is_http:
                error = "foreign scheme"
            elif edition.recognises_redirect_loops and target == self.url:
                error = "loop"
            else:
                return "redirect"
        result = FetchResult(status=self.status, complete=self.error is None, redirect_error=error)
        return _OUTCOMES[meaning(result, edition)]


def _status(value: Any) -> int | None:
    """A status; a float where a table with missing values has made one of it, or digits."""
    if value is None or value != value:  # NaN
        return None
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    valid = isinstance(value, int | float) and not isinstance(value, bool)
    if not (valid and 0 <= value <= _MAX_STATUS and value == int(value)):
        raise ValueError(f"status must be an HTTP status, not {value!r:.99}")
    return int(value)


def known_columns(schema: pa.Schema) -> list[str]:
    """The columns that are read. Raises ``ConfigurationError`` where one is missing."""
    for name in ("url", "body"):
        if name not in schema.names:
            given = ", ".join(schema.names) or "none"
            raise ConfigurationError(f"the column {name!r} is missing; the columns are: {given}")
    return [name for name in Document._fields if name in schema.names]
