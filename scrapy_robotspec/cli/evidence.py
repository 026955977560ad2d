"""``replay`` and ``audit``: what the evidence of crawls proves."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from contextlib import nullcontext
from functools import partial
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, standard_input
from scrapy_robotspec.cli.session import MisuseError, Screen, Session
from scrapy_robotspec.converters import convert, seconds
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.evidence.access_logs import parse
from scrapy_robotspec.evidence.audit import Accused, Audit, Timeline
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from scrapy_robotspec.evidence.warc import iso_date
from scrapy_robotspec.render.as_json import dumps
from scrapy_robotspec.render.text import columns, count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.evidence.run_reader import Reading

_REPLAY_EXAMPLES = """\
  robotspec replay evidence/
  robotspec replay evidence/ --complete --expect 7537c66e...
  robotspec replay evidence/ --json"""

_AUDIT_EXAMPLES = """\
  robotspec audit access.log --evidence evidence/ --origin https://example.com
  robotspec audit index.cdxj --evidence evidence/ --token examplebot
  robotspec audit requests.jsonl --evidence evidence/ --explain"""

#: Counts of the JSON besides those of every reading.
_COUNTS = (
    "agree",
    "differ",
    "not_checkable",
    "without_file",
    "sent",
    "sent_by_rules",
    "origins",
    "origins_without_file",
)
#: Lines between two updates of the progress bar.
_STEP = 5000
#: Max length of a line (bytes); the rest of a longer one is a line of its own.
_MAX_LINE = 2**20
#: Max rules of the table.
_SHOWN = 100
#: Max product tokens in a message.
_MOST_TOKENS = 3

_expectation_options = options.stack(
    options.value(
        "--expect expected",
        "HASH",
        "The last hash of a run, as it was published. Again for each run.",
        multiple=True,
    ),
    options.flag("--complete", "A run without its last line is a problem."),
)


@options.command("replay", _REPLAY_EXAMPLES)
@click.argument("folder", metavar="DIR")
@_expectation_options
@options.json_option
def replay_command(
    session: Session, folder: str, expected: Sequence[str], complete: bool, output: Output
) -> int:
    """Make every decision of a crawl again, from its evidence alone.

    DIR is the folder of ROBOTSPEC_EVIDENCE. Reads every byte of log and archive, follows the
    archived responses to what the crawl knew at each moment, and compares each decision with the
    log.

    Exits with 1 if a decision differs, a digest does not fit, or a record is missing.
    """
    screen = session.screen
    result = replay(_evidence_folder(folder))
    result.expect(expected, complete=complete)
    _show_problems(screen, result)
    add = screen.note if output.as_json else screen.say
    if output.as_json:
        counts = {name: getattr(result, name) for name in _COUNTS}
        screen.say_json([{**counts, **result.to_json()}])
    else:
        screen.say(*_summary(result))
    for run in result.runs:
        add(f"{safe(run.run)}: last hash {run.last_hash}")
        if run.verify is not None:
            add(f"{safe(run.run)}: verify its time stamp: {safe(run.verify, None)}")
    return 1 if result.problem_count else 0


def _evidence_folder(folder: str) -> Path:
    """The folder of ``ROBOTSPEC_EVIDENCE``. Raises ``MisuseError`` for anything else."""
    path = Path(folder)
    if not isdir(folder):  # Path('') is the current one
        raise MisuseError(f"{folder!r} is not a folder: give that of ROBOTSPEC_EVIDENCE")
    if not any(path.glob("decisions-*.jsonl")) and not any(path.glob("robots-*.warc.gz")):
        raise MisuseError(f"{folder!r} contains no evidence: give the folder of ROBOTSPEC_EVIDENCE")
    return path


def _show_problems(screen: Screen, reading: Reading) -> None:
    """Print notes and problems."""
    for note in reading.notes:
        screen.note(f"note: {safe(note)}")
    screen.fail_some(reading.problems, reading.problem_count)


def _summary(result: ReplayResult) -> Iterator[str]:
    """Counts: decisions by their replay and by reason, pages that left, origins."""
    words = [f"decisions: {result.decisions:,}", f"agree: {result.agree:,}"]
    words.append(f"differ: {result.differ:,}")
    others = result.problem_count - result.differ
    if result.without_file:
        words.append(f"no file needed: {result.without_file:,}")
    if result.not_checkable:
        words.append(f"not checkable: {result.not_checkable:,}")
    if others:
        words.append(f"other problems: {others:,}")
    yield ", ".join(words)
    reasons = {name: number for name, number in result.reasons.items() if number}
    if reasons:
        yield "reasons: " + ", ".join(f"{name} {number:,}" for name, number in reasons.items())
    if result.sent:
        percent = 100 * result.sent_by_rules // result.sent
        share = f"{percent or (result.sent_by_rules and '< 1')} %"
        yield f"pages that left: {result.sent:,}, by rules: {result.sent_by_rules:,} ({share})"
    if result.origins_without_file:
        missing = f"without an archived robots.txt: {result.origins_without_file:,}"
        yield f"origins: {result.origins:,}, {missing}"


@options.command("audit", _AUDIT_EXAMPLES)
@click.argument("log", metavar="LOG", type=click.Path(True, dir_okay=False, allow_dash=True))
@options.value("--evidence", "DIR", "The folder of ROBOTSPEC_EVIDENCE.", required=True)
@options.token_option("the tokens of the crawls, if they had the same for each request")
@options.value(
    "--origin", "URL", "The site of a log that names no host, such as https://example.com."
)
@options.value(
    "--tolerance",
    "SECONDS",
    "Seconds for which a replaced robots.txt still excuses a request.",
    default=1.0,
    show_default=True,
)
@options.flag("--explain", "Show the logged decision about each disallowed request.")
@_expectation_options
@options.json_option
def audit_command(
    session: Session,
    log: str,
    evidence: str,
    crawlers: CrawlerOptions,
    origin: str | None,
    tolerance: float,
    explain: bool,
    expected: Sequence[str],
    complete: bool,
    output: Output,
) -> int:
    """Check an access log against the robots.txt files in force.

    LOG is a file, maybe compressed with gzip, or - for standard input: Common or Combined log
    format, CDXJ, or JSON lines with time and url. Each request is checked
    against the robots.txt that was in force then, by the evidence of any crawls in DIR. A request
    for an origin and a time without evidence is unknown. A robots.txt itself is always allowed, and
    so are the redirects and probes that the crawls followed to one.

    Exits with 1 if any request was disallowed, or the evidence was changed.
    """
    screen = session.screen
    base = None if origin is None else Origin.of(origin)
    if origin is not None and base is None:
        raise MisuseError(f"--origin {origin!r} is not the URL of a site: write https://{origin}")
    tolerance = convert("--tolerance", tolerance, seconds())
    timeline = Timeline(_evidence_folder(evidence))
    reading = timeline.reading
    reading.expect(expected, complete=complete)
    product = _crawler(crawlers, timeline)
    if product is None:
        _show_problems(screen, reading)
        return 1
    audit = Audit(timeline, product, tolerance)
    not_read = _audit(screen, log, audit, base)
    audit.look_up()
    _show_problems(screen, reading)
    for note in not_read:
        screen.note(f"note: {note}")
    if output.as_json:
        counts = {name: getattr(audit, name) for name in ("requests", "disallowed", "unknown")}
        accused = [_accused_object(each) for each in audit.accused] if explain else None
        screen.say_json([{**counts, **reading.to_json(), "accused": accused}])
    else:
        _report(screen, audit, explain)
    return 1 if audit.disallowed or reading.problem_count else 0


def _crawler(given: CrawlerOptions, timeline: Timeline) -> tuple[str, ...] | None:
    """The product tokens to audit; None where damaged evidence names none."""
    if given.named:
        return given.crawler(EDITIONS["google-2019"], None)
    known = sorted(timeline.tokens)
    if len(known) == 1:
        return known[0]
    if timeline.reading.problem_count:
        return None
    names = listed([safe(" ".join(tokens)) for tokens in known[:_MOST_TOKENS]])
    found = f"several product tokens, such as {names}" if known else "no product token"
    raise MisuseError(f"the crawls had {found}: give --token")


def _audit(screen: Screen, log: str, audit: Audit, base: Origin | None) -> list[str]:
    """Judge every line of *log*; notes about lines without a request."""
    without_url, wrong, first = 0, 0, ""
    for number, line in enumerate(_lines(log, screen), 1):
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
        url = absolute_url(request.url, base)
        if url is None:
            raise MisuseError(f"{log} names no host: give --origin https://example.com")
        audit.add(request, Origin.of(url), url)
    notes = []
    if without_url:
        notes.append(f"lines without the URL of a request: {without_url:,}")
    if wrong and not audit.requests and not without_url:
        raise MisuseError(f"no line of {log} can be read, {safe(first)}")
    if wrong:
        notes.append(f"{count(wrong, 'line')} cannot be read, the first is {safe(first)}")
    return notes


def _lines(log: str, screen: Screen) -> Iterator[bytes]:
    """The lines of *log*; ``-`` is standard input."""
    is_file = log != STANDARD_INPUT
    size = Path(log).stat().st_size if is_file else 0
    try:
        raw: Any
        with Path(log).open("rb") if is_file else nullcontext(standard_input()) as raw:
            is_packed = raw.peek(2)[:2] == b"\x1f\x8b"
            stream = gzip.GzipFile(fileobj=raw) if is_packed else raw
            for number, line in enumerate(iter(partial(stream.readline, _MAX_LINE), b"")):
                yield line
                if is_file and not number % _STEP:
                    screen.share(raw.tell(), size, "audited")
    except (OSError, EOFError, zlib.error) as error:
        raise MisuseError(f"{log}: {error}") from None


def _report(screen: Screen, audit: Audit, explain: bool) -> None:
    rows: list[tuple[str, ...]] = [("requests", "origin", "line", "rule", "first URL")]
    first = {each.why: each.url for each in reversed(audit.accused)}
    rules = Counter(each.why for each in audit.accused)
    for rule, number in rules.most_common(_SHOWN):
        text = rule.rule or f"({rule.reason})"
        cells = (rule.origin, rule.line or "", text, first[rule])
        rows.append((f"{number:,}", *(safe(str(cell)) for cell in cells)))
    if len(rows) > 1:
        screen.say(*columns(rows), "")
    later = [each for each in audit.accused if each.was_allowed]
    for each in audit.accused if explain else later[:1]:
        screen.say(*_explained(each))
    if later and not explain:
        screen.say(f"allowed when decided: {len(later):,} (--explain shows each)")
    counts = f"disallowed: {audit.disallowed:,}, unknown: {audit.unknown:,}"
    screen.say(f"requests: {audit.requests:,}, {counts}")


def absolute_url(url: str, base: str | None) -> str | None:
    """*url* with scheme and host; None where no host is known.

    *base* is the origin of a log that names none. An unknown scheme is that of *base*, else https.
    """
    if url.startswith("///"):
        url = url[2:]
    elif url.startswith("//"):
        scheme = "https" if base is None else base.partition(":")[0]
        return f"{scheme}:{url}"
    if url.startswith("/"):
        return None if base is None else base + url
    return url


def _explained(accused: Accused) -> Iterator[str]:
    """A disallowed request, when it was decided and sent, and the line of its decision."""
    why, decision = accused.why, accused.decision
    rule = f"line {why.line}: {why.rule}" if why.line else why.reason
    yield safe(f"{iso_date(accused.request.time)} {accused.url}: disallowed ({rule})")
    if decision is None:
        yield "  no decision about it in the evidence"
        return
    word = "allowed" if accused.was_allowed else "disallowed"
    left = "" if accused.left is None else f", sent {iso_date(accused.left)}"
    yield f"  {word} when decided {iso_date(decision.values['time'])}{left}"
    yield safe(f"  {decision.file}: line {decision.line}: {dumps(decision.values)}", None)


def _accused_object(accused: Accused) -> dict[str, Any]:
    why, decision = accused.why, accused.decision
    return {
        "time": accused.request.time,
        "url": accused.url,
        **{name: getattr(why, name) for name in ("reason", "line", "rule")},
        "left": accused.left,
        "decision": None if decision is None else decision._asdict(),
    }
