"""Reads WARC records, which are not trusted (SAF-05)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.evidence.log_lines import EvidenceError
from scrapy_robotspec.evidence.warc import (
    END_OF_HEAD,
    END_OF_RECORD,
    LEFT_OUT,
    LOST,
    MAX_HEADERS,
    STATUS_FIELD,
    STOPPED,
    VERSION,
    iso_date,
    longest_body,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Max bytes of a record besides headers and body.
_MAX_FIELDS = 2**16


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record that was read."""

    kind: str
    fields: Mapping[str, str]
    """WARC fields by lower-case name."""
    block: bytes

    @property
    def is_left_out(self) -> bool:
        """Whether the body of the response is not in the archive."""
        return LEFT_OUT.lower() in self.fields

    def check_line(self, values: Mapping[str, Any]) -> None:
        """Check that it is the record with a line's *values*.

        Raises ``EvidenceError``.
        """
        names = ("warc-record-id", "warc-type", "warc-target-uri", "warc-date")
        named = (values["id"], values["kind"], values["url"], iso_date(values["time"]))
        if tuple(self.fields.get(name, "") for name in names) != named:
            raise EvidenceError("it is another record than the line says")

    def exchange(self) -> Exchange | None:
        """The response in the record; None for another kind.

        Raises one of ``DAMAGE``.
        """
        status, headers, body = self.fields.get(STATUS_FIELD.lower()), [], self.block
        if self.kind == "response":
            head, _, body = body.partition(END_OF_HEAD)
            first, *headers = head.decode("latin-1").split("\r\n")
            status = first.partition(" ")[2][:3]
        if status is None:
            return None
        if not (status.isascii() and status.isdigit() and len(status) <= 3):
            raise EvidenceError("a response record without a status")
        return Exchange(
            self.fields["warc-target-uri"],
            int(status),
            tuple((name, value) for name, _, value in (each.partition(": ") for each in headers)),
            body,
            stopped=self.fields.get("warc-truncated") == STOPPED,
            incomplete=self.fields.get("warc-truncated") == LOST,
        )


def longest_member(max_size: int) -> int:
    """Max bytes of a record, and of its gzip member (SAF-05)."""
    return longest_body(max_size) + MAX_HEADERS + _MAX_FIELDS


def read_member(data: bytes, max_size: int) -> StoredRecord:
    """The record in the first gzip member of *data*.

    Raises ``EvidenceError`` for anything else. *max_size*: the parsing limit of the crawl, which
    bounds what a member may unpack to.
    """
    limit = longest_member(max_size)
    try:
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        plain = unpacker.decompress(data, limit)
        if not unpacker.eof:
            raise ValueError(f"incomplete, or more than {limit} bytes")
        head, _, content = plain.partition(END_OF_HEAD)
        fields = _fields(head)
        block = content[: int(fields["content-length"])]
        if content != block + END_OF_RECORD:
            raise ValueError("other bytes than its length says")
        return StoredRecord(fields["warc-type"], fields, block)
    except (LookupError, ValueError, zlib.error) as error:
        raise EvidenceError(f"not a WARC record ({type(error).__name__}: {error})") from error


def _fields(head: bytes) -> dict[str, str]:
    """The WARC fields of a record by lower-case name, as ``to_member`` writes them."""
    version, *lines = head.decode().split("\r\n")
    if version != VERSION:
        raise ValueError(f"not {VERSION}")
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
