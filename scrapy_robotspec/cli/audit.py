"""``robotspec audit``: an access log against archived robots.txt files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.log_files import LogFile
from scrapy_robotspec.cli.replay import INSTALL, evidence_folder
from scrapy_robotspec.protocol.agents import candidates
from scrapy_robotspec.render.text import columns, count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.evidence.access_logs import Parse
    from scrapy_robotspec.evidence.audit import Audit
    from scrapy_robotspec.evidence.timeline import Timeline

_EXAMPLES = """\
  robotspec audit access.log --evidence evidence/ --origin https://example.com
  robotspec audit index.cdxj --evidence evidence/ --token examplebot
  robotspec audit requests.jsonl --evidence evidence/ --json"""

#: Lines between two updates of the progress bar.
_STEP = 5000
#: Lines that the format is found by.
_SAMPLE = 100
#: Max rules of the table.
_SHOWN = 100
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
    help="A request may follow rules that were replaced at most this long before it.",
)
@options.json_option
def command(
    session: Session,
    log: str,
    evidence: str,
    tokens: Sequence[str],
    origin: str | None,
    name: str,
    tolerance: float,
    as_json: bool,
) -> int:
    """Hold an access log against the robots.txt files of its time.

    LOG is a file, maybe compressed with gzip, or - for standard input. Each request is checked
    against the robots.txt that was in force then, by the evidence of any crawls in DIR. A request
    for an origin and a time without evidence is unknown; a robots.txt itself is always allowed.

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
        audit = Audit(timeline, _tokens(tokens, timeline), tolerance)
        not_read = _audit(session, file, _format(file, name), audit, timeline, base)
    screen.clear()
    for problem in timeline.problems:
        screen.fail(safe(problem))
    for note in not_read:
        screen.note(f"note: {note}")
    _report(session, audit, as_json)
    return 1 if audit.disallowed or timeline.problems else 0


def _base(origin: str | None) -> str | None:
    if origin is None:
        return None
    found = Origin.of(origin)
    if found is None:
        raise MisuseError(f"--origin {origin!r} is not the URL of a site: write https://{origin}")
    return str(found)


def _tokens(given: Sequence[str], timeline: Timeline) -> tuple[str, ...]:
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
    """Judge every line of *file*; notes about lines that are no requests."""
    from scrapy_robotspec.evidence.audit import absolute_url

    without_url, wrong, first = 0, 0, ""
    for number, line in enumerate(file, 1):
        if not number % _STEP:
            session.screen.share(file.done, file.size, "audited")
        try:
            request = parse(line)
        except (ValueError, RecursionError) as error:
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


def _report(session: Session, audit: Audit, as_json: bool) -> None:
    screen = session.screen
    if as_json:
        from scrapy_robotspec.render.as_json import dumps

        names = ("requests", "disallowed", "unknown")
        screen.say(dumps({name: getattr(audit, name) for name in names}))
        return
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
    counts = f"disallowed: {audit.disallowed:,}, unknown: {audit.unknown:,}"
    screen.say(f"requests: {audit.requests:,}, {counts}")
