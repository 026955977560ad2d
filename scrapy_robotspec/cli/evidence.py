"""``replay``: what the evidence of crawls proves."""

from __future__ import annotations

from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.session import MisuseError, Screen, Session
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.evidence.run_reader import Reading

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


@options.command("replay", _REPLAY_EXAMPLES)
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
        counts = {name: getattr(result, name) for name in _COUNTS}
        screen.say_json([{**counts, **result.to_json()}])
    else:
        screen.say(*_summary(result))
    for run in result.runs:
        add(f"{safe(run.run)}: last hash {run.last_hash}")
        if run.verify is not None:
            add(f"{safe(run.run)}: verify its time stamp: {safe(run.verify, None)}")
    return 1 if result.problem_count else 0


def evidence_folder(folder: str) -> Path:
    """The folder of ``ROBOTSPEC_EVIDENCE``. Raises ``MisuseError`` for anything else."""
    path = Path(folder)
    if not isdir(folder):  # Path('') is the current one
        raise MisuseError(f"{folder!r} is not a folder: give that of ROBOTSPEC_EVIDENCE")
    if not any(path.glob("decisions-*.jsonl")) and not any(path.glob("robots-*.warc.gz")):
        raise MisuseError(f"{folder!r} contains no evidence: give the folder of ROBOTSPEC_EVIDENCE")
    return path


def show_problems(screen: Screen, reading: Reading) -> None:
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
