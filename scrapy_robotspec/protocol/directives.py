"""Directives: the valid lines of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lines import meaning, split_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition, Spellings

    #: Offset of a line in the file, its field and its value.
    Directive = tuple[int, str, bytes]

_LINE_END = b"\r\n"
_EMPTY_LINES = (b"\n", b"\r\n", b"\r")


class DirectiveReader:
    """Reads valid lines; each spelling of a field is interpreted once.

    With *fields*, lines whose field begins otherwise than all of these spellings are left out.
    """

    def __init__(self, edition: Edition, fields: Spellings | None = None) -> None:
        self._edition = edition
        self._fields: dict[bytes, str] = {}
        self._beginnings = tuple(spelling for spelling, _ in fields or ((b"", ""),))

    def read(self, body: bytes, begin: int, end: int) -> Iterator[Directive]:
        """The directives between two offsets.

        Where a record ends, a directive has an empty field (FMT-15).
        """
        edition = self._edition
        part = body[begin:end]
        white, field_of = edition.whitespace + _LINE_END, self._fields.get
        commented = b"#" in part
        limit = len(part) if edition.max_line is None else edition.max_line
        if edition.nul_ends_line and b"\0" in part:
            limit = -1
        after_empty = -1
        for line in part.splitlines(keepends=True):  # hot path
            name, colon, value = line.partition(b":")
            field = field_of(name)
            if field is not None and colon and len(line) <= limit:
                if commented:
                    value = value.partition(b"#")[0]
                yield begin, field, value.strip(white)
            elif line in _EMPTY_LINES or not line.strip(white):
                if edition.blank_line_ends_group and begin != after_empty:
                    yield begin, "", b""
                after_empty = begin + len(line)
            elif name.lstrip(white).lower().startswith(self._beginnings):
                yield from self._interpret(begin, line)
            begin += len(line)

    def _interpret(self, begin: int, line: bytes) -> Iterator[Directive]:
        pair = split_line(line.rstrip(_LINE_END), self._edition)
        if pair is None:
            return
        field = meaning(pair[0], self._edition)
        name = line.partition(b":")[0]
        if b"#" not in name and b"\0" not in name:
            self._fields[name] = field
        yield begin, field, pair[1]
