"""Documents: one robots.txt response each, and what it means for the crawl."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from scrapy_robotspec.access.origin import Origin, is_web
from scrapy_robotspec.access.outcome import FetchResult, Meaning, meaning
from scrapy_robotspec.access.redirects import redirect_target
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Takes a line of text about something that cannot be read.
Report = Callable[[str], None]
#: Max bytes of a body that are read, hashed and counted; all editions read far fewer.
MAX_BODY = 16 * 1024 * 1024

#: Max number that can be a status at all; those from 600 on are invalid responses (FET-16).
_MAX_STATUS = (1 << 31) - 1

#: Line ends as other tools write bytes to text: ``\\x0A``, ``\\n``.
_ESCAPED_LINE_END = re.compile(rb"\\(?:x0[aAdD]|[nr])[ \t]*(?:[A-Za-z-]+[ \t]*:|#|\\|['\"]?\Z)")

_TEXTS = ("url", "location", "error", "source")

#: The specifications' word for a fetch result; ``redirect``, ``revisit``: it is in another record.
OutcomeName = Literal["successful", "unavailable", "unreachable", "redirect", "revisit"]

#: Error of a response whose body an archive has in another record.
REVISIT = "the body is in another record (revisit)"

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
        if body and b"\n" not in body and b"\r" not in body and _ESCAPED_LINE_END.search(body):
            raise ValueError(
                "body has line ends written out as text, such as \\n or \\x0A: write the column as "
                "bytes, or as text with line ends"
            )
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
    def size(self) -> int | None:
        """Length of the body (bytes)."""
        return None if self.body is None else len(self.body)

    @property
    def sha256(self) -> str | None:
        """Hash of the body."""
        return None if self.body is None else sha256(self.body).hexdigest()

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
        if self.error == REVISIT and self.status in (None, 304, *range(200, 300)):
            return "revisit"
        if self.status is None:
            return "successful" if self.body is not None and not self.error else "unreachable"
        error = None
        target = self.target
        if target is not None:  # FET-03, FET-18
            is_valid = is_web(target) and Origin.of(target) is not None
            if self.url is not None and not is_valid:
                error = "foreign scheme"
            elif edition.recognises_redirect_loops and target == self.url:
                error = "loop"
            else:
                return "redirect"
        result = FetchResult(status=self.status, complete=self.error is None, redirect_error=error)
        return _OUTCOMES[meaning(result, edition)]


def _status(value: Any) -> int | None:
    """A status, which may be a text, and a float where a table has missing values."""
    if value is None or value != value:  # NaN
        return None
    with suppress(OverflowError, TypeError, ValueError):
        status = int(float(value))
        if 0 <= status <= _MAX_STATUS and status == float(value) and not isinstance(value, bool):
            return status
    raise ValueError(f"status must be an HTTP status, not {value!r:.99}")


def known_columns(schema: pa.Schema) -> list[str]:
    """The columns that are read.

    Raises ``ConfigurationError`` where one is missing or nested.
    """
    for name in ("url", "body"):
        if name not in schema.names:
            given = ", ".join(schema.names) or "none"
            raise ConfigurationError(f"the column {name!r} is missing; the columns are: {given}")
        kind = schema.types[schema.names.index(name)]
        if pa.types.is_nested(kind):
            raise ConfigurationError(f"the column {name!r} must have text or bytes, not {kind}")
    return [name for name in Document._fields if name in schema.names]


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch, with bodies of at most :data:`MAX_BODY` bytes."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    if "body" in columns:
        columns["body"] = _cut(columns["body"])
    for number in range(len(batch)):
        yield {name: column[number].as_py() for name, column in columns.items()}


def _cut(bodies: pa.Array) -> pa.Array:
    """Bodies without what is not read of them, as bytes; other types as they are."""
    if pa.types.is_dictionary(bodies.type):
        return pa.DictionaryArray.from_arrays(bodies.indices, _cut(bodies.dictionary))
    bytes_of = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    kind = bytes_of.get(bodies.type, bodies.type)
    if kind not in bytes_of.values():
        return bodies
    return pc.binary_slice(bodies.cast(kind), 0, MAX_BODY)
