"""``replay`` and ``audit``: what evidence and access logs show."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.access_log import AccessLog, rule_table
from scrapy_robotspec.cli.session import MisuseError, Screen, Session
from scrapy_robotspec.converters import convert, seconds
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.evidence.audit import Accused, Audit, Timeline
from scrapy_robotspec.evidence.log_formats import NAMED
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from scrapy_robotspec.evidence.warc import iso_date
from scrapy_robotspec.render.as_json import Object, dumps, members
from scrapy_robotspec.render.text import first_of, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions, Output

_REPLAY_EXAMPLES = """\
  robotspec replay evidence/
  robotspec replay evidence/ --complete --expect 7537c66e...
  robotspec replay evidence/ --json"""

#: Counts of the JSON besides those of every reading.
_COUNTS = (
    "agree",
    "differ",
    "not_checkable",
    "without_file",
    "sent",
    "sent_by_rules",
    "answered_by_middleware",
    "origins",
    "origins_without_file",
)
expectation_options = options.stack(
    options.value(
        "--expect expected",
        "HASH",
        "The last hash of a run, as it was published. Again for each run.",
        multiple=True,
    ),
    options.flag("--complete", "A run without its last line is a problem."),
)


@options.command(_REPLAY_EXAMPLES)
@click.argument("folder", metavar="DIR")
@expectation_options
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
    result = replay(evidence_folder(folder))
    result.expect(expected, complete=complete)
    show_problems(screen, result)
    add = screen.note if output.as_json else screen.say
    if output.as_json:
        screen.say_json([{**members(result, *_COUNTS), **result.to_json()}])
    else:
        screen.say(*_summary(result))
    for run in result.runs:
        add(f"{safe(run.run)}: last hash {run.last_hash}")
        if run.verify is not None:
            add(f"{safe(run.run)}: verify its time stamp: {safe(run.verify, None)}")
    return 1 if result.problem_count else 0


def evidence_folder(folder: str) -> Path:
    """The folder of ``ROBOTSPEC_EVIDENCE``. Raises ``MisuseError`` for anything else."""
    remedy = "give the folder of ROBOTSPEC_EVIDENCE"
    kinds = ("decisions-*.jsonl", "robots-*.warc.gz")
    try:
        names = [Path(name) for name in os.listdir(folder)]
    except OSError as error:
        raise MisuseError(f"cannot read {folder!r}: {error.strerror}; {remedy}") from error
    found = [Path(folder, name) for name in names if any(map(name.match, kinds))]
    if not found:
        raise MisuseError(f"{folder!r} contains no evidence: {remedy}")
    for path in found:
        if path.is_file() and not os.access(path, os.R_OK):
            why = "Permission denied; run it as the owner of the files"
            raise MisuseError(f"cannot read {str(path)!r}: {why}")
    return Path(folder)


def show_problems(screen: Screen, reading: ReplayResult) -> None:
    """Print notes and problems."""
    for note in reading.notes:
        screen.note(f"note: {safe(note)}")
    screen.fail_some(reading.problems, reading.problem_count)


def _summary(result: ReplayResult) -> Iterator[str]:
    """Counts: decisions by their replay and by reason, pages that left, origins."""
    words = f"decisions: {result.decisions:,}, agree: {result.agree:,}, differ: {result.differ:,}"
    others = result.problem_count - result.differ
    if result.without_file:
        words += f", no file needed: {result.without_file:,}"
    if result.not_checkable:
        words += f", not checkable: {result.not_checkable:,}"
    if others:
        words += f", other problems: {others:,}"
    yield words
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


# --- audit


_AUDIT_EXAMPLES = """\
  robotspec audit access.log --robots robots.txt
  robotspec audit access.log.gz --robots https://example.com/ --log-format vhost_combined
  robotspec audit access.log --robots robots.txt --html visitors.html
  robotspec audit access.log --evidence evidence/ --origin https://example.com
  robotspec audit index.cdxj --evidence evidence/ --token examplebot
  robotspec audit requests.jsonl --evidence evidence/ --explain"""

#: Max rules of the table.
_SHOWN = 100
#: Max product tokens and max origins in a message.
_MOST_TOKENS = 3


@options.command(_AUDIT_EXAMPLES)
@click.argument(
    "logs",
    metavar="LOG",
    nargs=-1,
    required=True,
    type=click.Path(True, dir_okay=False, allow_dash=True),
)
@options.value(
    "--robots",
    "FILE",
    "The robots.txt that judges all crawlers: a path, or the URL of a site.",
)
@options.value("--evidence", "DIR", "The folder of ROBOTSPEC_EVIDENCE.")
@options.token_option("--robots: all crawlers; --evidence: that of the crawls, if they had one")
@options.value(
    "--origin",
    "URL",
    "The site of a log that names no host, such as https://example.com. With --robots the only one "
    "to judge.",
)
@options.value(
    "--log-format",
    "FORMAT",
    "The format of LOG, as Apache's LogFormat or nginx's log_format has it; a name: "
    f"{', '.join(NAMED)}; or json:time=NAME,uri=NAME,host=NAME,agent=NAME for the members of "
    "JSON lines. Default: by the looks of each line.",
)
@options.value("--zone", "ZONE", "The zone of times without one, such as +0530. Default: UTC.")
@options.value(
    "--tolerance",
    "SECONDS",
    "Seconds for which a replaced robots.txt still excuses a request.",
    default=1.0,
    show_default=True,
)
@options.flag("--explain", "Show the logged decision about each disallowed request.")
@expectation_options
@options.output_options
def audit_command(
    session: Session,
    logs: Sequence[str],
    robots: str | None,
    evidence: str | None,
    crawlers: CrawlerOptions,
    origin: str | None,
    log_format: str | None,
    zone: str | None,
    tolerance: float,
    explain: bool,
    expected: Sequence[str],
    complete: bool,
    output: Output,
) -> int:
    """Check an access log: which crawlers kept to robots.txt.

    LOG is a file, maybe compressed with gzip, or - for standard input: Common or Combined log
    format, CDXJ, JSON lines with time and url, or as --log-format says.

    With --robots each crawler of LOG is judged by FILE, under the name in its User-Agent, which
    anyone can send. With --evidence each request is checked against the robots.txt that was in
    force then, by the evidence of any crawls in DIR. A request for an origin and a time without
    evidence is unknown, as is one that is disallowed to another User-Agent than the crawler's. A
    robots.txt itself is always allowed, and so are the redirects and probes that the crawls
    followed to one.

    Exits with 1 if any request was disallowed, or the evidence was changed.
    """
    screen = session.screen
    site = Origin.of(origin or "")
    if origin is not None and site is None:
        is_host = "://" not in origin and Origin.of(f"https://{origin}")
        remedy = f"write https://{origin if is_host else 'example.com'}"
        raise MisuseError(f"--origin {origin!r} is not the URL of a site: {remedy}")
    if len(logs) > 1:
        together = "zcat -f $(ls -tr access.log*) | robotspec audit -"
        raise MisuseError(f"give one log: {together} reads several, the oldest first")
    access_log = AccessLog(logs[0], screen, log_format, zone)
    if robots is not None and evidence is None:
        from scrapy_robotspec.cli.visitors import audit_visitors  # needs templates

        if explain or complete or expected:
            raise MisuseError("--explain, --complete and --expect are for --evidence")
        return audit_visitors(session, access_log, robots, site, crawlers, output)
    if evidence is None or robots is not None:
        raise MisuseError("give --robots FILE, or --evidence DIR, one of the two")
    if output.html is not None:
        raise MisuseError("--html is for --robots")
    tolerance = convert("--tolerance", tolerance, seconds())
    timeline = Timeline(evidence_folder(evidence))
    reading = timeline.reading
    reading.expect(expected, complete=complete)
    product = _crawler(crawlers, timeline)
    if product is None:
        show_problems(screen, reading)
        return 1
    audit = Audit(timeline, product, tolerance)
    for request, url in access_log.requests(site):
        audit.add(request, Origin.of(url), url)
    audit.look_up()
    show_problems(screen, reading)
    for note in access_log.notes():
        screen.note(f"note: {note}")
    if audit.unknown_origins:
        names = first_of(list(map(safe, audit.unknown_origins)), _MOST_TOKENS)
        period = " to ".join(f"{iso_date(each)[:19]}Z" for each in timeline.period)
        known = f", which is of {period}" if period else ""
        screen.note(f"note: without evidence{known}: {names}")
    if audit.other_agents:
        names = first_of([safe(repr(each)) for each in audit.strangers], _MOST_TOKENS)
        screen.note(
            f"note: unknown, as disallowed to a User-Agent that is not the crawls': "
            f"{audit.other_agents:,}, of {names}; for a log of the crawls alone give a "
            "--log-format without it, such as common"
        )
    if output.as_json:
        counts = members(audit, "requests", "disallowed", "unknown", "other_agents")
        accused = [_accused_object(each) for each in audit.accused] if explain else None
        more = {"without_evidence": list(audit.unknown_origins), "accused": accused}
        screen.say_json([{**counts, **access_log.counts, **reading.to_json(), **more}])
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


def _report(screen: Screen, audit: Audit, explain: bool) -> None:
    first = {each.why: each.url for each in reversed(audit.accused)}
    rules = Counter(each.why for each in audit.accused).most_common(_SHOWN)
    rows = [
        (number, why.origin, why.line, why.rule or f"({why.reason})", first[why])
        for why, number in rules
    ]
    screen.say(*rule_table("origin", rows))
    for each in audit.accused if explain else ():
        screen.say(*_explained(each))
    counts = f"disallowed: {audit.disallowed:,}, unknown: {audit.unknown:,}"
    screen.say(f"requests: {audit.requests:,}, {counts}")


def _explained(accused: Accused) -> Iterator[str]:
    """A disallowed request, when it was decided and sent, and the line of its decision."""
    why, decision = accused.why, accused.decision
    rule = f"line {why.line}: {why.rule}" if why.line else why.reason
    yield safe(f"{iso_date(accused.request.time)} {accused.url}: disallowed ({rule})")
    if decision is None:
        yield "  no decision about it in the evidence"
        return
    word = "allowed" if decision.values["allowed"] else "disallowed"
    left = "" if accused.left is None else f", sent {iso_date(accused.left)}"
    yield f"  {word} when decided {iso_date(decision.values['time'])}{left}"
    yield safe(f"  {decision.file}: line {decision.line}: {dumps(decision.values)}", None)


def _accused_object(accused: Accused) -> Object:
    decision = accused.decision
    return {
        "time": accused.request.time,
        "url": accused.url,
        **members(accused.why, "reason", "line", "rule"),
        "left": accused.left,
        "decision": None if decision is None else decision._asdict(),
    }
