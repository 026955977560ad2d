"""``robotspec audit``: an access log against archived robots.txt files."""

from __future__ import annotations

import gzip
import zlib
from datetime import datetime, timezone
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import standard_input
from scrapy_robotspec.cli.replay import (
    INSTALL,
    check_expectations,
    evidence_folder,
    expectation_options,
    show_problems,
)
from scrapy_robotspec.protocol.agents import candidates
from scrapy_robotspec.render.text import columns, count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.evidence.access_logs import Parse
    from scrapy_robotspec.evidence.audit import Accused, Audit
    from scrapy_robotspec.evidence.timeline import Timeline

_EXAMPLES = """\
  robotspec audit access.log --evidence evidence/ --origin https://example.com
  robotspec audit index.cdxj --evidence evidence/ --token examplebot
  robotspec audit requests.jsonl --evidence evidence/ --explain"""

#: Lines between two updates of the progress bar.
_STEP = 5000
#: Lines that the format is found by.
_SAMPLE = 100
#: Max length of a line (bytes); the rest of a longer one is a line of its own.
_MAX_LINE = 2**20
#: Max rules of the table, and max requests that are explained.
_SHOWN, _MAX_EXPLAINED = 100, 1000
#: Max product tokens in a message.
_MOST_TOKENS = 3
_FORMATS = ("auto", "common", "cdxj", "json")


@options.command("audit", _EXAMPLES)
@click.argument("log", metavar="LOG")
@click.option("--evidence", metavar="DIR", required=True, help="The folder of ROBOTSPEC_EVIDENCE.")
@click.option(
    "--token",
    "tokens",
    metavar="TOKEN",
    multiple=True,
    help="The crawler's product token. Again for each one to fall back on, the most specific "
    "first. Default: the tokens of the crawls, if they had the same for each request.",
)
@click.option(
    "--origin",
    metavar="URL",
    help="The site of a log that names no host, such as https://example.com.",
)
@click.option(
    "--format",
    "name",
    type=click.Choice(_FORMATS),
    default="auto",
    show_default=True,
    help="common: Common and Combined log format; cdxj: an index of an archive; json: lines with "
    "time and url.",
)
@click.option(
    "--tolerance",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Seconds for which a replaced robots.txt still excuses a request.",
)
@click.option(
    "--explain", is_flag=True, help="Show the logged decision about each disallowed request."
)
@expectation_options
@options.json_option
def command(
    session: Session,
    log: str,
    evidence: str,
    tokens: Sequence[str],
    origin: str | None,
    name: str,
    tolerance: float,
    explain: bool,
    expected: Sequence[str],
    complete: bool,
    as_json: bool,
) -> int:
    """Check an access log against the robots.txt files in force.

    LOG is a file, maybe compressed with gzip, or - for standard input. Each request is checked
    against the robots.txt that was in force then, by the evidence of any crawls in DIR. A request
    for an origin and a time without evidence is unknown. A robots.txt itself is always allowed, and
    so are the redirects and probes that the crawls followed to one.

    Exits with 1 if any request was disallowed, or the evidence was changed.
    """
    folder = evidence_folder(evidence)
    try:
        from scrapy_robotspec.evidence.audit import Audit
        from scrapy_robotspec.evidence.timeline import Timeline
    except ImportError:
        raise MisuseError(INSTALL) from None
    screen = session.screen
    base = _base(origin)
    with LogFile(log) as file:
        timeline = Timeline.read(folder, lambda done, all_: screen.share(done, all_, "evidence"))
        reading = timeline.reading
        check_expectations(reading, expected, complete)
        product = _tokens(tokens, timeline)
        if product is None:
            screen.clear()
            show_problems(session, reading)
            return 1
        audit = Audit(timeline, product, tolerance)
        not_read = _audit(session, file, _format(file, name), audit, timeline, base)
    audit.look_up(lambda done, all_: screen.share(done, all_, "decisions"))
    screen.clear()
    show_problems(session, reading)
    for note in not_read:
        screen.note(f"note: {note}")
    if as_json:
        screen.say(_json(audit, timeline, explain))
    else:
        _report(session, audit, explain)
    return 1 if audit.disallowed or reading.problem_count else 0


def _base(origin: str | None) -> str | None:
    if origin is None:
        return None
    found = Origin.of(origin)
    if found is None:
        raise MisuseError(f"--origin {origin!r} is not the URL of a site: write https://{origin}")
    return str(found)


def _tokens(given: Sequence[str], timeline: Timeline) -> tuple[str, ...] | None:
    """The product tokens to audit; None where damaged evidence names none."""
    from scrapy_robotspec.editions import get_edition

    if given:
        try:
            candidates(tuple(given), get_edition("google-2019"))
        except ValueError as error:
            raise MisuseError(f"--token: {error}") from None
        return tuple(given)
    known = sorted(timeline.tokens)
    if len(known) == 1:
        return known[0]
    if timeline.reading.problem_count:
        return None
    names = listed([safe(" ".join(tokens)) for tokens in known[:_MOST_TOKENS]])
    found = f"several product tokens, such as {names}" if known else "no product token"
    raise MisuseError(f"the crawls had {found}: give --token")


def _format(file: LogFile, name: str) -> Parse:
    from scrapy_robotspec.evidence.access_logs import FORMATS, detect

    found = detect(file.first_lines(_SAMPLE)) if name == "auto" else name
    if found is None and any(map(bytes.strip, file.first_lines(_SAMPLE))):
        raise MisuseError(
            f"the format of {file.name} is unknown: give --format common, cdxj or json"
        )
    return FORMATS[found or "common"]


def _audit(
    session: Session,
    file: LogFile,
    parse: Parse,
    audit: Audit,
    timeline: Timeline,
    base: str | None,
) -> list[str]:
    """Judge every line of *file*; notes about lines without a request."""
    from scrapy_robotspec.evidence.audit import absolute_url

    without_url, wrong, first = 0, 0, ""
    for number, line in enumerate(file, 1):
        if not number % _STEP:
            session.screen.share(file.done, file.size, "audited")
        try:
            request = parse(line)
        except (ValueError, OverflowError, RecursionError) as error:
            if line.strip():
                wrong += 1
                first = first or f"line {number}: {error}"
            continue
        if request is None:
            without_url += 1
            continue
        url = request.url
        if url.startswith("/"):
            found = absolute_url(url, timeline, base)
            if found is None:
                raise MisuseError(f"{file.name} names no host: give --origin https://example.com")
            url = found
        audit.add(request, Origin.of(url), url)
    notes = []
    if without_url:
        notes.append(f"lines without the URL of a request: {without_url:,}")
    if wrong and not audit.requests and not without_url:
        raise MisuseError(
            f"no line of {file.name} can be read, {safe(first)}: give --format common, cdxj or json"
        )
    if wrong:
        notes.append(f"{count(wrong, 'line')} cannot be read, the first is {safe(first)}")
    return notes


def _report(session: Session, audit: Audit, explain: bool) -> None:
    screen = session.screen
    rows = [("requests", "origin", "line", "rule", "first URL")]
    for rule, number in audit.rules.most_common(_SHOWN):
        line = "" if rule.line is None else str(rule.line)
        text = rule.rule or f"({rule.reason})"
        rows.append(
            (f"{number:,}", safe(rule.origin), line, safe(text), safe(audit.examples[rule]))
        )
    if len(rows) > 1:
        for row in columns(rows):
            screen.say(row)
        screen.say()
    later = [each for each in audit.accused if each.was_allowed]
    for each in audit.accused[:_MAX_EXPLAINED] if explain else later[:1]:
        for text in _explained(each):
            screen.say(text)
    if explain and len(audit.accused) > _MAX_EXPLAINED:
        screen.note(f"note: the first {_MAX_EXPLAINED:,} of {len(audit.accused):,} are explained")
    elif later and not explain:
        screen.say(f"allowed when decided: {len(later):,} (--explain shows each)")
    counts = f"disallowed: {audit.disallowed:,}, unknown: {audit.unknown:,}"
    screen.say(f"requests: {audit.requests:,}, {counts}")


def _explained(accused: Accused) -> Iterator[str]:
    """A disallowed request, when it was decided and sent, and the line of its decision."""
    why, decision = accused.why, accused.decision
    rule = f"line {why.line}: {why.rule}" if why.line else why.reason
    yield safe(f"{_date(accused.request.time)} {accused.url}: disallowed ({rule})")
    if decision is None:
        yield "  no decision about it in the evidence"
        return
    word = "allowed" if accused.was_allowed else "disallowed"
    left = "" if accused.left is None else f", sent {_date(accused.left)}"
    yield f"  {word} when decided {_date(decision.values['time'])}{left}"
    yield safe(f"  {decision.file}: line {decision.line}: {_compact(decision.values)}", None)


def _compact(values: Mapping[str, Any]) -> str:
    from scrapy_robotspec.render.as_json import dumps

    return dumps(values)


def _date(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (OverflowError, ValueError, OSError):
        return f"{time:g}"


def _json(audit: Audit, timeline: Timeline, explain: bool) -> str:
    from scrapy_robotspec.render.as_json import dumps

    names = ("requests", "disallowed", "unknown")
    shown: dict[str, Any] = {name: getattr(audit, name) for name in names}
    shown |= timeline.reading.to_json()
    if explain:
        shown["accused"] = [_accused_object(each) for each in audit.accused[:_MAX_EXPLAINED]]
    return dumps(shown)


def _accused_object(accused: Accused) -> dict[str, Any]:
    decision = accused.decision
    return {
        "time": accused.request.time,
        "url": accused.url,
        "reason": accused.why.reason,
        "line": accused.why.line,
        "rule": accused.why.rule,
        "left": accused.left,
        "decision": None if decision is None else decision._asdict(),
    }


class LogFile:
    """The lines of *name*; ``-`` is standard input.

    Raises ``MisuseError`` for a file that cannot be read.
    """

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == "-" else name
        self.size = 0
        """Bytes on the disk; 0: unknown."""
        self._raw: IO[bytes]
        if name == "-":
            self._raw = standard_input()
        else:
            try:
                self._raw = Path(name).open("rb")  # noqa: SIM115  (closed by __exit__)
                self.size = Path(name).stat().st_size
            except OSError as error:
                raise MisuseError(f"{name}: {error.strerror}") from None
        self._lines = self._read()
        self._first: list[bytes] = []

    def __enter__(self) -> LogFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.size:
            self._raw.close()

    @property
    def done(self) -> int:
        """Bytes read so far; 0 where the size is unknown."""
        return self._raw.tell() if self.size else 0

    def first_lines(self, number: int) -> list[bytes]:
        """The first lines, which are still part of the iteration."""
        if not self._first:
            self._first = list(islice(self._lines, number))
        return self._first[:number]

    def __iter__(self) -> Iterator[bytes]:
        return chain(self._first, self._lines)

    def _read(self) -> Iterator[bytes]:
        peek = getattr(self._raw, "peek", None)
        is_packed = peek is not None and peek(2)[:2] == b"\x1f\x8b"
        stream = gzip.GzipFile(fileobj=self._raw) if is_packed else self._raw
        try:
            while line := stream.readline(_MAX_LINE):
                yield line
        except (OSError, EOFError, zlib.error) as error:
            raise MisuseError(f"{self.name}: {error}") from None
