"""``robotspec replay``: makes every logged decision again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.evidence.replay import ReplayResult

_EXAMPLES = """\
  robotspec replay evidence/
  robotspec replay evidence/ --json"""

#: The remedy where the library that reads archives is missing.
INSTALL = "no archive can be read: pip install 'scrapy-robotspec[evidence]'"


@options.command("replay", _EXAMPLES)
@click.argument("folder", metavar="DIR")
@options.json_option
def command(session: Session, folder: str, as_json: bool) -> int:
    """Make every decision of a crawl again, from its evidence alone.

    DIR is the folder of ROBOTSPEC_EVIDENCE. Reads every byte of log and archive, follows the
    archived responses to what the crawl knew at each moment, and compares each decision with the
    log.

    Exits with 1 if a decision differs, a digest does not fit, or a record is missing.
    """
    path = evidence_folder(folder)
    try:
        from scrapy_robotspec.evidence.replay import replay
    except ImportError:
        raise MisuseError(INSTALL) from None
    screen = session.screen
    result = replay(path, lambda done, total: screen.share(done, total, "replayed"))
    screen.clear()
    for note in result.notes:
        screen.note(f"note: {safe(note)}")
    for problem in result.problems:
        screen.fail(safe(problem))
    left_out = result.problem_count - len(result.problems)
    if left_out:
        screen.fail(f"and {left_out:,} more")
    screen.say(_json(result) if as_json else _summary(result))
    for run, head in result.heads.items():
        line = f"{safe(run)}: last hash {head}"
        screen.note(line) if as_json else screen.sum_up(line)
    return 0 if result.is_good else 1


def evidence_folder(folder: str) -> Path:
    """The folder of ``ROBOTSPEC_EVIDENCE``. Raises ``MisuseError`` for anything else."""
    path = Path(folder)
    if not path.is_dir():
        raise MisuseError(f"{folder!r} is not a folder: give that of ROBOTSPEC_EVIDENCE")
    if not any(path.glob("decisions-*.jsonl")) and not any(path.glob("robots-*.warc.gz")):
        raise MisuseError(f"{folder!r} contains no evidence: give the folder of ROBOTSPEC_EVIDENCE")
    return path


def _json(result: ReplayResult) -> str:
    from scrapy_robotspec.render.as_json import dumps

    counts = {"decisions": result.decisions, "agree": result.agree, "differ": result.differ}
    return dumps(counts)


def _summary(result: ReplayResult) -> str:
    counts = f"decisions: {result.decisions:,}, agree: {result.agree:,}, differ: {result.differ:,}"
    others = result.problem_count - result.differ
    return f"{counts}, other problems: {others:,}" if others else counts
