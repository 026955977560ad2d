"""The requests of an access log that a command line names."""

from __future__ import annotations

import gzip
import re
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.cli.inputs import STANDARD_INPUT, standard_input
from scrapy_robotspec.cli.session import MISUSE, MisuseError, Screen
from scrapy_robotspec.evidence.access_logs import UNKNOWN, NoURLError
from scrapy_robotspec.evidence.log_formats import reader
from scrapy_robotspec.render.as_json import members
from scrapy_robotspec.render.text import columns, count, first_of, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.evidence.access_logs import Request
    from scrapy_robotspec.render.as_json import Object

#: Max length of a line (bytes). Servers take request lines and headers up to some 64 kB; a longer
#: line is skipped as a whole.
MAX_LINE = 2**17
#: Max hosts that are kept and named.
_MAX_HOSTS = 1000
_NAMED_HOSTS = 3
#: Max different reasons for lines that are not read.
_MAX_REASONS = 100
_ZONE = re.compile(r"([+-](?:[01]\d|2[0-3])):?([0-5]\d)|Z|UTC")


class AccessLog:
    """Requests of a log, line by line, and counts of its lines."""

    def __init__(self, name: str, screen: Screen, log_format: str | None, zone: str | None) -> None:
        """Raises :class:`MisuseError` for a format or a zone that is none."""
        self.name = name
        self._screen = screen
        found = _ZONE.fullmatch(zone or "Z")
        if found is None:
            raise MisuseError(f"--zone {zone!r} is not like +0530")
        try:
            self._parse = reader(log_format, f"{found[1]}{found[2]}" if found[1] else "Z")
        except ValueError as error:
            raise MisuseError(f"--log-format: {error}") from None
        self.read = self.without_url = self.not_read = 0
        self._log_format = log_format
        self._messages = 0
        """Lines not read that an application may have written between requests."""
        self.agents = 0
        """Requests with a User-Agent."""
        self.damage: str | None = None
        """Why its end is not read."""
        self._reasons: dict[str, tuple[int, int]] = {}  # number of lines not read, and the first
        self._hosts: dict[str, None] = {}
        self._without_zone = self._cut_queries = self._queries = 0

    def requests(self, base: str | None) -> Iterator[tuple[Request, str]]:
        """The requests with their absolute URLs. Raises :class:`MisuseError`.

        *base*: the origin of a log that names none. Most lines must be readable: a few that are
        would stand for a log that is not. Other messages of an application do not count, where
        the format names the member of the URL.
        """
        for number, line in enumerate(self._lines(), 1):
            try:
                if len(line) >= MAX_LINE:
                    raise ValueError(f"longer than {MAX_LINE:,} bytes")
                request = self._parse(line)
            except (ValueError, OverflowError, RecursionError) as error:
                if line.strip():
                    self._note_unread(number, error)
                continue
            if request is None:
                self.without_url += 1
                continue
            url = absolute_url(request.url, base)
            if url is None:
                raise MisuseError(f"{self.name} names no host: give --origin https://example.com")
            if request.agent is None and self.agents:  # its line is cut, or another's
                request = request._replace(agent="")
            self._note_read(request)
            yield request, url
        if self.without_url and not self.read + self.not_read:
            raise MisuseError(f"no line of {self.name} has the URL of a request")
        strange = self.not_read - self._messages
        if strange > self.read + self.without_url or (self.not_read and not self.read):
            raise MisuseError(self._unread(f" of {self.name}"))

    @property
    def counts(self) -> Object:
        """Lines that were left out, as JSON has them."""
        return members(self, "not_read", "without_url", "damage")

    def notes(self) -> Iterator[str]:
        """Sentences about the lines that were read, and about missing facts."""
        hosts = first_of(list(map(safe, self._hosts)), _NAMED_HOSTS)
        agents = f"{self.agents:,} with a User-Agent" if self.agents else "no User-Agents"
        yield f"{count(self.read, 'request')} read, {agents}; hosts in the log: {hosts or 'none'}"
        if self.without_url:
            yield f"lines without the URL of a request: {self.without_url:,}"
        if self.not_read:
            yield self._unread()
        if self._without_zone:
            yield "times without a zone are taken as UTC, or as --zone says"
        if self._cut_queries and not self._queries:
            yield "the log leaves out what follows a question mark: rules with a query cannot match"

    def _unread(self, of: str = "") -> str:
        """How many lines cannot be read, and the usual reason: if possible, what they are."""
        reason = max(self._reasons, key=lambda each: (each != UNKNOWN, self._reasons[each][0]))
        first = f"such as line {self._reasons[reason][1]}: {reason}"
        return f"{count(self.not_read, 'line')}{of} cannot be read, {first}"

    def _note_unread(self, number: int, error: Exception) -> None:
        reason = safe(str(error))
        self.not_read += 1
        if isinstance(error, NoURLError):
            if self._log_format:
                self._messages += 1
            else:
                reason += ": name them with --log-format json:time=NAME,uri=NAME"
        known, first = self._reasons.get(reason, (0, number))
        if known or len(self._reasons) < _MAX_REASONS:
            self._reasons[reason] = known + 1, first

    def _note_read(self, request: Request) -> None:
        self.read += 1
        self.agents += bool(request.agent)
        self._without_zone += not request.has_zone
        _, mark, query = request.url.partition("?")
        self._queries += bool(query)
        self._cut_queries += bool(mark and not query)
        host = request.url.partition("//")[2].partition("/")[0]
        if host and len(self._hosts) < _MAX_HOSTS:
            self._hosts.setdefault(host)

    def _lines(self) -> Iterator[bytes]:
        """The lines of the log, each up to the max length; ``-`` is standard input."""
        is_file = self.name != STANDARD_INPUT
        size = Path(self.name).stat().st_size if is_file else 0
        number = 0
        try:
            raw: Any
            with Path(self.name).open("rb") if is_file else nullcontext(standard_input()) as raw:
                is_packed = raw.peek(2)[:2] == b"\x1f\x8b"
                stream = gzip.GzipFile(fileobj=raw) if is_packed else raw
                while line := stream.readline(MAX_LINE):
                    yield line
                    number += 1
                    while len(line) == MAX_LINE and not line.endswith(b"\n"):
                        line = stream.readline(MAX_LINE)
                    if size:  # a pipe has none
                        self._screen.share(raw.tell(), size, "audited")
        except (OSError, EOFError, zlib.error) as error:
            if not number:
                raise MisuseError(f"no line of {self.name} can be read: {error}") from None
            self.damage = (
                f"{self.name} is damaged or not complete, read to line {number:,}: {error}"
            )
            self._screen.fail(safe(self.damage, None), MISUSE)


def absolute_url(url: str, base: str | None) -> str | None:
    """*url* with scheme and host; None where no host is known.

    *base* is the origin of a log that names none. An unknown scheme is that of *base*, else https.
    """
    rest = url.removeprefix("//")
    if rest.startswith("/"):
        return base and base + rest
    scheme = (base or "https:").partition(":")[0]
    return url if rest == url else f"{scheme}:{url}"


def rule_table(subject: str, rows: Iterable[tuple[int, str, int | None, str, str]]) -> list[str]:
    """Lines of a table of broken rules; none without rows."""
    table = [(f"{number:,}", *(safe(str(cell or "")) for cell in cells)) for number, *cells in rows]
    head = ("requests", subject, "line", "rule", "first URL")
    return [*columns([head, *table]), ""] if table else []
