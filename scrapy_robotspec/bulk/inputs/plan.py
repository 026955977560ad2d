"""Finds out what each input is, and cuts it into parts."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.inputs import folders, json_lines, tables
from scrapy_robotspec.bulk.inputs.gzip_members import GZIP
from scrapy_robotspec.bulk.inputs.gzip_members import MAGIC as WARC
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.bulk.inputs.parts import Part

_HEAD = 4096
#: Files that are read in a folder besides robots.txt files, and what makes a single file JSON.
_ARCHIVES = (".warc", ".warc.gz", ".parquet", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_ZSTD = b"\x28\xb5\x2f\xfd"
_CAN_READ = (
    "give a WARC file, a Parquet file or JSON lines with url and body, a .txt file, or a folder"
)


class InputFile(NamedTuple):
    """One file of the input, as it was when the run began."""

    path: str
    size: int
    changed: int
    """Time of the last change (nanoseconds)."""


class Plan(NamedTuple):
    """The files and parts that a run reads."""

    files: tuple[InputFile, ...]
    parts: tuple[Part, ...]
    ignored: int
    """Files of folders that are hidden, broken links, or of no known ending, and links to folders;
    no index."""


def plan(inputs: Sequence[str]) -> Plan:
    """The files and parts of some inputs, in order.

    Raises ``ConfigurationError`` for a file that does not exist or cannot be an input.
    """
    files: list[InputFile] = []
    parts: list[Part] = []
    ignored = 0
    for name in inputs:
        if name == "-":
            raise ConfigurationError(
                "standard input cannot be read twice, as an interrupted run does: save it to a file"
            )
        if not os.path.isdir(name):
            found = [_stat(name)]
        else:
            found, others = _files_of(name)
            ignored += others
        files += found
        try:
            parts += _parts(found)
        except OSError as error:
            place = error.filename or name
            raise ConfigurationError(f"cannot read {place}: {error.strerror}") from error
    return Plan(tuple(files), tuple(parts), ignored)


def _stat(path: str) -> InputFile:
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("not a regular file")
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"cannot read {path}: {cause}; {_CAN_READ}") from error
    return InputFile(path, found.st_size, found.st_mtime_ns)


def _refuse(error: OSError) -> None:
    """Do not leave out a folder without a word."""
    raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}") from error


def _files_of(folder: str) -> tuple[list[InputFile], int]:
    """The readable files below a folder, sorted, and the number of others."""
    found, others = [], 0
    for path, below, names in os.walk(folder, onerror=_refuse):
        below[:] = sorted(name for name in below if not name.startswith("."))
        others += sum(os.path.islink(os.path.join(path, name)) for name in below)
        for name in sorted(names):
            whole = os.path.join(path, name)
            readable = name.lower().endswith((*folders.ENDINGS, *_ARCHIVES))
            if readable and not name.startswith(".") and os.path.isfile(whole):
                found.append(_stat(whole))
            elif name != folders.INDEX:
                others += 1
    if not found:
        endings = " or ".join((*folders.ENDINGS, *_ARCHIVES))
        raise ConfigurationError(f"no file in the folder {folder} ends in {endings}")
    return found, others


def _parts(files: Sequence[InputFile]) -> Iterator[Part]:
    """The parts of some files in order; robots.txt files side by side share parts."""
    alone: list[tuple[str, int]] = []
    for path, size, _ in files:
        if path.lower().endswith(folders.ENDINGS):
            alone.append((path, size))
            continue
        yield from folders.folder_parts(alone)
        alone = []
        yield from _parts_of_file(path, size)
    yield from folders.folder_parts(alone)


def _parts_of_file(path: str, size: int) -> Iterator[Part]:
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if head.startswith(tables.MAGIC):
        return tables.table_parts(path, size)
    if head.startswith(WARC) or (WARC in head and path.lower().endswith(".warc")):
        return _warc_parts(path, size, compressed=False)
    if head.startswith(GZIP):
        inner = _unzipped(path)
        # The first record may be damaged, and the others are not.
        if inner.startswith(WARC) or (not inner and path.lower().endswith(".warc.gz")):
            return _warc_parts(path, size, compressed=True)
        if inner.lstrip(_BLANKS).startswith(b"{"):
            return iter([json_lines.GzipJsonPart(path, 0, size)])
    elif head.lstrip(_BLANKS).startswith(b"{"):
        return json_lines.json_parts(path, size)
    elif head.startswith(_ZSTD):
        raise ConfigurationError(f"{path} is compressed with zstd: decompress it with zstd -d")
    elif not head.strip() and path.lower().endswith(_ARCHIVES):
        return iter(())  # an archive without records
    raise ConfigurationError(f"{path} is not an input that can be read: {_CAN_READ}")


def _warc_parts(path: str, size: int, *, compressed: bool) -> Iterator[Part]:
    try:
        from scrapy_robotspec.bulk.inputs.warc import warc_parts  # slow to import
    except ImportError as error:
        raise ConfigurationError(
            f"{path} is a WARC file, which needs warcio: pip install 'scrapy-robotspec[bulk]'"
        ) from error
    return warc_parts(path, size, compressed=compressed)


_BLANKS = b" \t\r\n\xef\xbb\xbf"


def _unzipped(path: str) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(64)
    except (OSError, EOFError, zlib.error):
        return b""
