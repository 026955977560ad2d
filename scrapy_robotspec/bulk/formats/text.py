"""CSV and JSON lines; the parts are text already."""

from __future__ import annotations

import csv
import io
import json
import shutil
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scrapy_robotspec.bulk.columns import OF_CRAWLER, OF_FILE, OF_GROUP, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.bulk.answers import Answers


class TextFormat:
    """A text format; the output is a head and the parts."""

    head = ""
    mark = ""
    #: At the beginning of a row, between its cells, and at its end.
    row_start, separator, row_end = "", ",", "\n"

    def cells(self, fields: Sequence[pa.Field], values: Sequence[Any]) -> str:
        """The values of some columns as a part of a row."""
        raise NotImplementedError

    def write_part(self, path: str, answers: Iterable[Answers]) -> None:
        """Write the answers of one part."""
        with open(path, "w", encoding="utf-8", newline="") as out:
            for each in answers:
                crawlers = [
                    self.row_start + self.cells(OF_CRAWLER, row) + self.separator
                    for row in each.crawlers()
                ]
                files = [self.cells(OF_FILE, row) + self.separator for row in each.files]
                groups = [self.cells(OF_GROUP, row) + self.row_end for row in each.groups]
                places = zip(each.file_places, each.group_places.to_pylist(), strict=True)
                for crawler, (file, group) in zip(cycle(crawlers), places, strict=False):
                    out.write(crawler + files[file] + groups[group])

    def merge(self, parts: Iterable[str], path: str) -> None:
        """Write the output from its parts, in order."""
        with open(path, "wb") as out:
            out.write(self.head.encode())
            for part in parts:
                with open(part, "rb") as file:
                    shutil.copyfileobj(file, out, 1 << 20)

    def is_ours(self, path: str) -> bool:
        """Whether an existing file was written by this tool."""
        return _beginning(path, len(self.mark)) in ("", self.mark)


class JsonLinesFormat(TextFormat):
    """One JSON object a line."""

    mark = '{"token": '
    row_start, separator, row_end = "{", ", ", "}\n"

    def cells(self, fields: Sequence[pa.Field], values: Sequence[Any]) -> str:
        """The values of some columns as a part of a row."""
        return _object(fields, values)[1:-1]


class CsvFormat(TextFormat):
    """CSV with a head; lists and objects are JSON in their cell."""

    row_end = "\r\n"

    def __init__(self) -> None:
        self.head = self.mark = _csv_cells(SCHEMA.names) + self.row_end

    def cells(self, fields: Sequence[pa.Field], values: Sequence[Any]) -> str:
        """The values of some columns as a part of a row."""
        return _csv_cells(
            [_cell(field, value) for field, value in zip(fields, values, strict=True)]
        )


def _object(fields: Sequence[pa.Field], values: Sequence[Any]) -> str:
    named = {
        field.name: _plain(field.type, value) for field, value in zip(fields, values, strict=True)
    }
    return json.dumps(named, ensure_ascii=False)


def _plain(kind: pa.DataType, value: Any) -> Any:
    """A value as JSON writes it."""
    if value is not None and pa.types.is_map(kind):
        return dict(value)
    if value is not None and pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        names = [field.name for field in kind.value_type]
        return [dict(zip(names, each, strict=True)) for each in value]
    return value


def _cell(field: pa.Field, value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is not None and pa.types.is_nested(field.type):
        return json.dumps(_plain(field.type, value), ensure_ascii=False)
    return value


def _csv_cells(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _beginning(path: str, length: int) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(length).decode("utf-8", "replace")
    except OSError:
        return "\0"
