"""RunReader: reads and checks the files of one crawl process."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO

from scrapy_robotspec.evidence.errors import EvidenceError
from scrapy_robotspec.evidence.log_lines import NO_HASH, read_lines
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.run_writer import FORMAT
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.evidence.warc import StoredRecord, read_member

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.evidence.log_lines import Line

#: Max files that are open at once, besides the log that is read.
_MAX_OPEN = 4


@dataclass(slots=True)
class RunFiles:
    """The files of one run, by part."""

    logs: dict[int, Path] = field(default_factory=dict)
    archives: dict[str, Path] = field(default_factory=dict)
    """By name."""


class RunReader:
    """Reads one run; ``problems`` collects what is not as it was written.

    The log is read line by line, and each archive record in its order, so that memory does not grow
    with the number of decisions. ``find`` returns records that the log has named so far.
    """

    def __init__(self, name: str, files: RunFiles) -> None:
        self.name = name
        self._files = files
        self.problems: list[str] = []
        self.notes: list[str] = []
        """Facts that make nothing wrong, such as a crawl that was killed."""
        self.settings: RunSettings | None = None
        self.hash = NO_HASH
        """The hash of the last line read."""
        self._ended: dict[str, Any] | None = None
        self._places: dict[str, tuple[str, int, int]] = {}
        self._states: set[str] = set()
        self._log_size = 0
        """Bytes of the log file that were read so far."""
        self._read: dict[str, int] = {}
        """Bytes of each archive file that the log has named."""
        self._open: dict[str, BinaryIO] = {}

    def lines(self) -> Iterator[Line]:
        """All lines but headers, up to the first that was changed."""
        path = None
        try:
            for part, path in self._parts():
                for line in read_lines(path, self.hash):
                    self._take(line, part, path)
                    if line.number > 1:
                        yield line
            self._check_end()
        except (EvidenceError, OSError, LookupError, TypeError, ValueError) as error:
            text = str(error) if isinstance(error, EvidenceError) else f"unreadable: {error!r}"
            name = self.name if path is None else path.name
            self.problems.append(f"{name}: {text}; what follows it proves nothing")
        finally:
            self._close()

    def find(self, id_: str | None) -> StoredRecord:
        """The archive record *id_*. Raises ``EvidenceError`` where it is missing or damaged."""
        if id_ not in self._places:
            raise EvidenceError(f"the record {id_} is missing")
        return read_member(self._bytes(*self._places[id_]))

    def is_state(self, id_: str) -> bool:
        """Whether the log has named a state *id_* so far."""
        return id_ in self._states

    def find_state(self, id_: str | None) -> State:
        """The state *id_*. Raises ``EvidenceError`` as :meth:`find` does."""
        if id_ not in self._states:
            raise EvidenceError(f"the state {id_} is missing")
        data = self._bytes(*self._places[id_])
        return State.from_json(data if data.startswith(b"{") else read_member(data).block)

    # --- the log

    def _parts(self) -> Iterator[tuple[int, Path]]:
        last = max(self._files.logs, default=0)
        for part in range(1, last + 1):
            path = self._files.logs.get(part)
            if path is None:
                self.problems.append(f"part {part} of the log of run {self.name} is missing")
                return
            yield part, path
        if not last:
            self.problems.append(f"the log of run {self.name} is missing")

    def _take(self, line: Line, part: int, path: Path) -> None:
        self.hash = line.hash
        kind = line.values["type"]
        start = self._log_size = 0 if line.number == 1 else self._log_size
        self._log_size += line.size
        if line.number == 1:
            self._take_header(line.values, part)
        elif self._ended is not None:
            raise EvidenceError(f"line {line.number} stands after the end")
        elif kind == "record":
            self._take_record(line.values)
        elif kind == "state":
            self._states.add(line.values["id"])
            self._places[line.values["id"]] = (path.name, start, line.size)
        elif kind == "gap":
            self.problems.append(
                f"{path.name}: line {line.number}: {line.values['lost']} lines and records were "
                "lost so far: the disk was full, or the crawl's log contains an error"
            )
        elif kind == "end":
            self._ended = line.values

    def _take_header(self, values: dict[str, Any], part: int) -> None:
        if values["type"] != "run" or values["part"] != part or values["run"] != self.name:
            raise EvidenceError("line 1 belongs to another file")
        if values["format"] not in (1, FORMAT):
            raise EvidenceError(
                f"format {values['format']} is unknown: use the release that wrote it, "
                f"{values['software']}"
            )
        self.settings = RunSettings.from_json(values["settings"])

    # --- the archive

    def _take_record(self, values: dict[str, Any]) -> None:
        """Check the bytes of a record that the log names."""
        file, offset, length = values["file"], values["offset"], values["length"]
        known = self._read.get(file, 0)
        self._read[file] = offset + length
        try:
            if offset != known:
                raise EvidenceError(f"bytes {known} to {offset} are in no line of the log")
            if sha256(self._bytes(file, offset, length)).hexdigest() != values["sha256"]:
                raise EvidenceError("its digest does not fit")
        except EvidenceError as error:
            self.problems.append(f"{file}: record {values['id']}: {error}")
            return
        self._places[values["id"]] = (file, offset, length)
        if values["kind"] == "metadata":
            self._take_archived_state(values["id"])

    def _take_archived_state(self, id_: str) -> None:
        """Format 1: a state is a record of JSON among those of failures."""
        with suppress(EvidenceError):  # named where a decision needs it
            if self.find(id_).content_type == "application/json":
                self._states.add(id_)

    def _bytes(self, file: str, offset: int, length: int) -> bytes:
        try:
            stream = self._stream(file)
            stream.seek(offset)
            data = stream.read(length)
        except OSError as error:
            raise EvidenceError(f"{file} cannot be read ({error.strerror})") from error
        if len(data) < length:
            raise EvidenceError(f"{file} ends too early")
        return data

    def _stream(self, file: str) -> BinaryIO:
        if file not in self._open:
            if len(self._open) >= _MAX_OPEN:
                self._close()
            path = self._path(file)
            self._open[file] = path.open("rb")
        return self._open[file]

    def _path(self, file: str) -> Path:
        for path in (self._files.archives.get(file), *self._files.logs.values()):
            if path is not None and path.name == file:
                return path
        raise EvidenceError(f"{file} is missing")

    def _close(self) -> None:
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    # --- the end

    def _check_end(self) -> None:
        """Compare the archive files with what the log says about them."""
        for name, path in self._files.archives.items():
            size, known = path.stat().st_size, self._read.get(name, 0)
            if self._ended is not None and size != known:
                self.problems.append(f"{name}: {size} bytes, not the {known} that the log names")
            elif size > known:
                self.notes.append(
                    f"{name}: the last {size - known} bytes are in no line of the log"
                )
        if self._ended is None and self._files.logs:
            self.notes.append(
                f"run {self.name} has no last line: the crawl runs, or was killed; lines of its "
                "last second may be missing, and more if its disk was full"
            )
