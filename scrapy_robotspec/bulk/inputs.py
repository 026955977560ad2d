"""Inputs of a run: archives, tables, robots.txt files, folders of them."""

from __future__ import annotations

import gzip
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from scrapy_robotspec.bulk.documents import MAX_BODY, Document, Report, known_columns, rows_of
from scrapy_robotspec.bulk.warc import Archives
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.folders import TEXTS, files_of, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_WARC = (".warc", ".warc.gz", ".warc.zst")
_JSON = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_ARCHIVES = (*_WARC, *_JSON, ".parquet")
#: Max rows of a table that are read at a time, and their size (bytes).
_ROWS, _BYTES = 256, 4 * MAX_BODY
#: Max length of a line of JSON (bytes); the rest of a longer one is passed over.
_MAX_LINE = 8 * MAX_BODY
#: Max length of a row of CSV (bytes).
_MAX_ROW = 32 * 1024 * 1024
_BLANKS = b" \t\r\n\xef\xbb\xbf"
_ENDING = re.compile(r"([._-]?robots)?(\.txt|\.robots)?$", re.IGNORECASE)
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z][a-z0-9-]*[a-z0-9]", re.IGNORECASE
)
_CAN_READ = (
    "give a WARC file (.warc, .warc.gz, .warc.zst), a table (.parquet, .jsonl, .csv) with url and "
    "body, a .txt file, or a folder"
)


class Input(NamedTuple):
    """The files that one output is made of."""

    name: str
    """Name of the output without its ending; may be in a folder."""
    files: tuple[str, ...]
    """One file, or the robots.txt files of a folder."""

    @property
    def is_archive(self) -> bool:
        """Whether it is a WARC file."""
        return self.files[0].lower().endswith(_WARC)

    def read(self, report: Report, archives: Archives | None = None) -> Iterator[Document]:
        """The documents in order.

        The bodies of revisit records are looked for in *archives*, by default in the same file.
        """
        for path in self.files:
            yield from documents(path, report, archives)


def find_inputs(names: Sequence[str]) -> tuple[list[Input], int]:
    """The named inputs, and the number of files left out.

    Left out are files that are hidden or of no known ending, and links inside folders.
    Raises ``ConfigurationError`` for a file that does not exist or cannot be an input.
    """
    found: list[Input] = []
    ignored = 0
    for name in names:
        if os.path.isdir(name):
            files, others = files_of(name, (*TEXTS, *_ARCHIVES))
            ignored += others
            rest = [path for path in files if not is_text(path)]
            found += [Input(os.path.relpath(path, name), (path,)) for path in rest]
            if texts := tuple(filter(is_text, files)):
                found.append(Input(os.path.basename(os.path.abspath(name)), texts))
        elif os.path.isfile(name) and name.lower().endswith((*TEXTS, *_ARCHIVES, ".csv")):
            found.append(Input(os.path.basename(name), (name,)))
        else:
            reason = _CAN_READ if os.path.exists(name) else "no such file or folder"
            raise ConfigurationError(f"cannot read {name!r}: {reason}")
    taken: dict[str, Input] = {}
    for each in found:
        other = taken.setdefault(each.name, each)
        if other.files != each.files:
            both = f"{other.files[0]} and {each.files[0]}"
            raise ConfigurationError(f"{both} would have the same output: give them in two runs")
    return list(taken.values()), ignored


def documents(path: str, report: Report, archives: Archives | None = None) -> Iterator[Document]:
    """The robots.txt responses in a file.

    Its name says of which kind it is. ``report`` is called with a line of text about each thing
    that cannot be read; everything else is. The bodies of revisit records are looked for in
    ``archives``, by default in the file.
    """
    name, number = path.lower(), 0
    try:
        if name.endswith(_WARC):
            yield from (archives or Archives([path])).read(path, report)
        elif is_text(name):
            with open(path, "rb") as file:
                yield Document(url_from_name(path), file.read(MAX_BODY), source=path)
        else:
            rows = _rows_of_table(path) if name.endswith((".parquet", ".csv")) else _json_rows(path)
            for number, row in enumerate(rows, 1):
                if row is not None:
                    yield from _read_row(row, f"{path}:{number}", report)
    except Exception as error:  # the other inputs of a run are read
        cause = str(error).partition("\n")[0] or type(error).__name__
        place = f" after row {number:,}" if number else ""
        report(f"{path}: cannot be read further{place}: {cause}")


def _read_row(values: Any, source: str, report: Report) -> Iterator[Document]:
    if not (isinstance(values, dict) and {"url", "body"} <= values.keys()):
        report(f"{source}: not an object with url and body, skipped")
        return
    try:
        known = {name: values.get(name) for name in Document._fields}
        yield Document.of(**{**known, "source": source})
    except ValueError as error:
        report(f"{source}: {error}, skipped")


def _json_rows(path: str) -> Iterator[Any]:
    """The values of the lines; None for a blank one."""
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
        while line := file.readline(_MAX_LINE):
            try:
                yield json.loads(line) if line.strip(_BLANKS) else None
            except (ValueError, RecursionError):
                yield ""  # not an object either
            while line and not line.endswith(b"\n"):
                line = file.readline(_MAX_LINE)


def _rows_of_table(path: str) -> Iterator[Mapping[str, Any]]:
    if path.lower().endswith(".csv"):
        read = pa_csv.ReadOptions(block_size=_MAX_ROW)
        parse = pa_csv.ParseOptions(newlines_in_values=True)
        with pa_csv.open_csv(path, read, parse) as head:
            names = known_columns(head.schema)
        options = pa_csv.ConvertOptions(
            column_types={name: pa.binary() if name == "body" else pa.string() for name in names},
            include_columns=names,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        with pa_csv.open_csv(path, read, parse, options) as batches:
            for batch in batches:
                yield from rows_of(batch)
        return
    names = known_columns(pq.read_schema(path))
    # Little of the file is in memory, however large its row groups and rows are. Equal bodies are
    # there once.
    with pq.ParquetFile(
        path, pre_buffer=False, buffer_size=1 << 20, read_dictionary=["body"]
    ) as table:
        for number in range(table.num_row_groups):
            group = table.metadata.row_group(number)
            fitting = group.num_rows * _BYTES // max(1, group.total_byte_size)
            rows = max(1, min(_ROWS, fitting))
            for batch in table.iter_batches(rows, row_groups=[number], columns=names):
                yield from rows_of(batch)


def url_from_name(path: str) -> str | None:
    """The https URL of a robots.txt saved under its host's name.

    ``example.com.txt``, ``example.com.robots.txt``, ``example.com/robots.txt``.
    """
    folder, name = os.path.split(path)
    host = _ENDING.sub("", name) or os.path.basename(folder)
    return f"https://{host.lower()}/robots.txt" if _HOST.fullmatch(host) else None
