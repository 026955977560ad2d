"""``bulk``: verdicts for archives, folders and tables of robots.txt files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, is_pipe, read_list, url_text
from scrapy_robotspec.cli.session import MOST, MisuseError, Screen, Session
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_robotspec.bulk.questions import Questions
    from scrapy_robotspec.bulk.run import Counts

_EXAMPLES = """\
  robotspec bulk folder --tokens GPTBot,CCBot --out verdicts
  robotspec bulk *.warc.gz --tokens @known --paths /news/ --out verdicts --format csv
  robotspec bulk folder --tokens GPTBot --columns origin,class,allowed --out verdicts"""

#: Stands for the well-known crawlers of the linter; no product token begins so.
KNOWN = "@known"
_EXTRA = "robotspec bulk needs pyarrow and FastWARC: pip install 'scrapy-robotspec[bulk]'"


@options.command(_EXAMPLES)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@options.value(
    "--tokens names",
    "LIST",
    "The crawlers: a file with one name a line, names with commas between them, or "
    f"{KNOWN} for the well-known crawlers of the linter.",
    required=True,
)
@options.value(
    "--paths",
    "LIST",
    "Paths to decide about besides /: a file with one a line, or paths with commas.",
)
@options.value(
    "--edition editions",
    None,
    "The edition of the specification; again for several. Default: google-2019; in a "
    "project the project's.",
    type=click.Choice(EDITIONS),
    multiple=True,
)
@options.flag("--lint", "Count the findings of the linter, too; takes longer.")
@options.value("--columns", "LIST", "The columns to write, with commas; fewer take less time.")
@options.value(
    "--out folder", "FOLDER", "The folder to write to: a file for each INPUT.", required=True
)
@options.value(
    "--format form",
    None,
    "The format of the files.",
    type=click.Choice(["parquet", "csv"]),
    default="parquet",
    show_default=True,
)
@options.value(
    "--jobs",
    "N",
    "Processes for many files. Default: one for each processor.",
    type=click.IntRange(min=1),
)
@options.interruptible()
def bulk_command(
    session: Session,
    inputs: Sequence[str],
    names: str,
    paths: str | None,
    editions: Sequence[str],
    lint: bool,
    columns: str | None,
    folder: str,
    form: str,
    jobs: int | None,
) -> int:
    """Write tables of verdicts for many files and crawlers.

    They have a row for each file, edition and crawler. INPUT is a WARC file with robots.txt
    responses, a table (Parquet, JSON lines or CSV) with url and body, a robots.txt file, or a
    folder of such files. Files already in FOLDER are kept.
    """
    screen = session.screen
    try:
        from scrapy_robotspec.bulk.inputs import find_inputs
        from scrapy_robotspec.bulk.questions import Questions
        from scrapy_robotspec.bulk.run import Job, opened, run
    except ImportError as error:
        raise MisuseError(_EXTRA) from error
    chosen = editions or (session.edition,)
    questions = Questions.of(
        _names(names), _list(paths, url_text), chosen, lint, _list(columns) or None
    )
    found, ignored = find_inputs(inputs)
    archives = tuple([each.files[0] for each in found if each.is_archive])
    planned = [Job(each, questions, folder, form, archives) for each in found]
    try:
        with opened(folder, inputs):
            _note_names(questions, screen)
            made = {job: job.finished() for job in planned}
            todo = [job for job, counts in made.items() if counts is None]
            for number, (job, counts) in enumerate(run(todo, jobs or os.cpu_count() or 1), 1):
                made[job] = counts
                screen.share(number, len(todo), "read")
    except OSError as error:
        why = f"{error.strerror or error}; --out needs a folder that can be written"
        raise MisuseError(f"cannot write to {folder!r}: {why}") from error
    except KeyboardInterrupt:
        screen.note("interrupted; the same command goes on from here")
        raise
    if len(todo) < len(planned):
        screen.note(f"{count(len(planned) - len(todo), 'output')} of {folder} kept")
    if ignored:
        screen.note(
            f"{count(ignored, 'file')} of folders ignored: hidden, links, or with other endings"
        )
    return _sum_up(folder, [counts for counts in made.values() if counts], screen)


def _sum_up(folder: str, made: Sequence[Counts], screen: Screen) -> int:
    names = ("problems", "rows", "documents")
    problems, rows, files = (sum(getattr(each, name) for each in made) for name in names)
    screen.fail_some([line for counts in made for line in counts.named][:MOST], problems)
    if not screen.quiet:
        screen.say(f"{folder}: {count(rows, 'row')} about {count(files, 'file')}")
    return 1 if problems else 0


def _names(given: str) -> Sequence[str]:
    """The names of a list."""
    if given == KNOWN:
        from scrapy_robotspec.protocol.lint.crawlers import KNOWN_CRAWLERS

        return KNOWN_CRAWLERS
    names = _list(given)
    if not names or any(name.startswith(KNOWN[0]) for name in names):
        raise MisuseError(
            f"--tokens {given!r}: give a file of names, names with commas, or {KNOWN}"
        )
    return names


def _list(given: str | None, text_of: Callable[[bytes], str] = decode) -> list[str]:
    """The lines of a file, or the words between commas."""
    if given is None:
        return []
    if given == STANDARD_INPUT or os.path.isfile(given) or is_pipe(given):
        return [text_of(line) for _, line in read_list(given)]
    if given.lower().endswith((".txt", ".csv", ".lst")):
        raise MisuseError(f"cannot read {given}: no such file")
    text = text_of(os.fsencode(given))  # bytes other than UTF-8, as in a file
    return [word for part in text.split(",") if (word := part.strip())]


def _note_names(questions: Questions, screen: Screen) -> None:
    """Say under which product token a name is asked about that is not one (UAG-11)."""
    from scrapy_robotspec.bulk.questions import Name

    for edition in questions.editions:
        for name in questions.tokens:
            token = Name.of(name, edition).product_token
            if token is None:
                screen.note(
                    f"note: no group can name {safe(name)} in {edition.name}, so it follows the "
                    "group of all others"
                )
            elif token != name:
                screen.note(f"note: {safe(name)} is {safe(token)} in {edition.name}")
