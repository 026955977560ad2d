"""Inputs of a run: archives, tables, robots.txt files, folders of them."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.folders import TEXTS, files_of, is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    #: Takes a message about something that cannot be read.
    Report = Callable[[str], None]

_WARC = (".warc", ".warc.gz")
_JSON = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
#: The other files that are read in a folder.
_ARCHIVES = (*_WARC, *_JSON, ".parquet")
#: A table in a folder, or in the one above, with the columns ``file`` and ``site`` or ``url``.
_INDEX = "index.csv"
_COLUMNS = ("url", "body", "status", "location", "error")
_ROWS = 256  # of a table at a time
#: Max length of a line of JSON, and of a row of CSV (bytes).
_MAX_LINE = 128 * 1024 * 1024
_MAX_ROW = 32 * 1024 * 1024
_BLANKS = b" \t\r\n\xef\xbb\xbf"
_ENDING = re.compile(r"([._-]?robots)?(\.txt|\.robots)?$", re.IGNORECASE)
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z][a-z0-9-]*[a-z0-9]", re.IGNORECASE
)
_CAN_READ = (
    "give a WARC file (.warc, .warc.gz), a table (.parquet, .jsonl, .csv) with url and body, a "
    ".txt file, or a folder"
)


class Input(NamedTuple):
    """The files that one output is made of."""

    name: str
    """Name of the output without its ending; may be in a folder."""
    files: tuple[str, ...]
    """One file, or the robots.txt files of a folder."""

    def read(self, report: Report) -> Iterator[Document]:
        """The documents in order."""
        sites = _Sites()
        for path in self.files:
            if is_text(path):
                yield from _read_text(path, sites.url_of(path), report)
            else:
                yield from documents(path, report)

    @property
    def state(self) -> Iterator[str]:
        """Text that changes when the files do."""
        indexes = {index for path in self.files if is_text(path) for index in _indexes(path)}
        for path in (*self.files, *sorted(indexes)):
            with suppress(OSError):
                found = os.stat(path)
                yield f"{os.path.abspath(path)} {found.st_size} {found.st_mtime_ns}\n"


def find_inputs(names: Sequence[str]) -> tuple[list[Input], int]:
    """The named inputs, and the number of files left out.

    Left out are files that are hidden, broken links, or of no known ending, and links to folders.
    Raises ``ConfigurationError`` for a file that does not exist or cannot be an input.
    """
    found: list[Input] = []
    ignored = 0
    for name in names:
        if os.path.isdir(name):
            some, others = _inputs_in(name)
            found += some
            ignored += others
        elif name == "-":
            raise ConfigurationError("standard input cannot be read in bulk: save it to a file")
        else:
            found.append(Input(os.path.basename(name), (name,)))
    for each in found:
        for path in each.files:
            _check(path)
    taken: dict[str, Input] = {}
    for each in found:
        other = taken.setdefault(each.name, each)
        if other.files != each.files:
            both = f"{other.files[0]} and {each.files[0]}"
            raise ConfigurationError(f"{both} would have the same output: give them in two runs")
    return list(taken.values()), ignored


def _inputs_in(folder: str) -> tuple[list[Input], int]:
    """The inputs below a folder, by name, and the number of other files."""
    texts: list[str] = []
    found: list[Input] = []
    files, others = files_of(folder)
    for path in files:
        if is_text(path):
            texts.append(path)
        elif path.lower().endswith(_ARCHIVES):
            found.append(Input(os.path.relpath(path, folder), (path,)))
        else:
            others += os.path.basename(path) != _INDEX
    if texts:
        found.append(Input(os.path.basename(os.path.abspath(folder)), tuple(texts)))
    if not found:
        endings = " or ".join((*TEXTS, *_ARCHIVES))
        raise ConfigurationError(f"no file in the folder {folder} ends in {endings}")
    return found, others


def _check(path: str) -> None:
    try:
        open(path, "rb").close()
        if not os.path.isfile(path):
            raise ValueError("not a regular file")
        if not is_text(path):
            _reader(path)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        cause = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"cannot read {path}: {cause}; {_CAN_READ}") from error


def documents(path: str, report: Report) -> Iterator[Document]:
    """The robots.txt responses in an archive or a table.

    ``report`` is called with a line of text about each thing that cannot be read; everything else
    is.
    """
    try:
        yield from _reader(path)(path, report)
    except Exception as error:  # the other inputs of a run are read
        report(f"{path}: damaged, read so far: {_first_line(error)}")


def _reader(path: str) -> Callable[[str, Report], Iterator[Document]]:
    """The function that reads a file, by its ending.

    Raises ``ConfigurationError`` without one.
    """
    name = path.lower()
    if name.endswith(_WARC):
        return _warc_reader(path)
    if name.endswith(".parquet"):
        _check_columns(path, _parquet_names(path))
        return _read_parquet
    if name.endswith(_JSON):
        return _read_json
    if name.endswith(".csv"):
        _check_columns(path, _csv_names(path))
        return _read_csv
    raise ConfigurationError(f"{path} is not an input that can be read: {_CAN_READ}")


def _warc_reader(path: str) -> Callable[[str, Report], Iterator[Document]]:
    try:
        from scrapy_robotspec.bulk.warc import read_warc
    except ImportError as error:
        raise ConfigurationError(
            f"{path} is a WARC file, which needs FastWARC: pip install 'scrapy-robotspec[bulk]'"
        ) from error
    return read_warc


def _check_columns(path: str, names: Sequence[str]) -> None:
    for name in ("url", "body"):
        if name not in names:
            given = ", ".join(names) or "none"
            raise ConfigurationError(
                f"{path}: the column {name!r} is missing; the columns are: {given}"
            )


def _parquet_names(path: str) -> Sequence[str]:
    try:
        names: Sequence[str] = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise ConfigurationError(f"{path}: not a Parquet file: {_first_line(error)}") from error
    return names


def _csv_names(path: str) -> Sequence[str]:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        return next(csv.reader([file.readline(_MAX_LINE)]), [])


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _read_parquet(path: str, report: Report) -> Iterator[Document]:
    # Little of the file is in memory, however large its row groups are.
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        names = [name for name in file.schema_arrow.names if name in _COLUMNS]
        yield from _read_batches(path, file.iter_batches(_ROWS, columns=names), report)


def _read_csv(path: str, report: Report) -> Iterator[Document]:
    kept = [name for name in _csv_names(path) if name in _COLUMNS]
    options = pa_csv.ConvertOptions(
        column_types={name: pa.binary() if name == "body" else pa.string() for name in kept},
        include_columns=kept,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = pa_csv.ParseOptions(newlines_in_values=True)
    read = pa_csv.ReadOptions(block_size=_MAX_ROW)
    with pa_csv.open_csv(path, read, parse, options) as batches:
        yield from _read_batches(path, batches, report)


def _read_batches(
    path: str, batches: Iterable[pa.RecordBatch], report: Report
) -> Iterator[Document]:
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            yield from _read_row(row, f"{path}:{number}", report)


def _read_json(path: str, report: Report) -> Iterator[Document]:
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
        place = file.tell()
        while line := file.readline(_MAX_LINE):
            if line.strip(_BLANKS):
                yield from _read_line(line, f"{path}:byte {place}", report)
            while not line.endswith(b"\n") and (line := file.readline(_MAX_LINE)):
                pass  # too long a line
            place = file.tell()


def _read_line(line: bytes, source: str, report: Report) -> Iterator[Document]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        report(f"{source}: not a line of JSON in UTF-8, skipped")
        return
    if isinstance(values, dict) and {"url", "body"} <= values.keys():
        yield from _read_row(values, source, report)
    else:
        report(f"{source}: not an object with url and body, skipped")


def _read_row(values: Mapping[str, Any], source: str, report: Report) -> Iterator[Document]:
    try:
        yield Document.of(**{name: values.get(name) for name in _COLUMNS}, source=source)
    except ValueError as error:
        report(f"{source}: {error}, skipped")


def _read_text(path: str, url: str | None, report: Report) -> Iterator[Document]:
    """A robots.txt file, whose response is not known."""
    try:
        with open(path, "rb") as file:
            body = file.read(MAX_BODY)
    except OSError as error:
        report(f"cannot read {path}: {error.strerror}")
    else:
        yield Document(url, body, source=path)


class _Sites:
    """The sites of robots.txt files: named by an index, or by the files."""

    def __init__(self) -> None:
        self._indexes: dict[str, Mapping[str, str]] = {}

    def url_of(self, path: str) -> str | None:
        """URL of a robots.txt file, if it is known."""
        for index in _indexes(path):
            if index not in self._indexes:
                self._indexes[index] = _read_index(index)
            if site := self._indexes[index].get(os.path.basename(path)):
                return site if "://" in site else url_from_name(site)
        return url_from_name(path)


def _indexes(path: str) -> tuple[str, str]:
    """The tables that may name the site of a file."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.join(folder, _INDEX), os.path.join(os.path.dirname(folder), _INDEX)


def _read_index(path: str) -> Mapping[str, str]:
    """The site of each file that an index names; nothing without a usable index."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            return {
                os.path.basename(row["file"]): site
                for row in rows
                if row.get("file") and (site := row.get("url") or row.get("site"))
            }
    except (OSError, csv.Error):
        return {}


def url_from_name(path: str) -> str | None:
    """The https URL of a robots.txt saved under its host's name.

    ``example.com.txt``, ``example.com.robots.txt``, ``example.com/robots.txt``.
    """
    folder, name = os.path.split(path)
    host = _ENDING.sub("", name) or os.path.basename(folder)
    return f"https://{host.lower()}/robots.txt" if _HOST.fullmatch(host) else None
