"""``lint``: what is wrong with robots.txt files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import open_sources
from scrapy_robotspec.cli.lint_formats import FORMATS
from scrapy_robotspec.cli.lint_select import Selection, explain_code
from scrapy_robotspec.cli.parallel import map_in_order
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.render.terminal import columns
from scrapy_robotspec.render.text import count, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.lint_formats import Linted
    from scrapy_robotspec.cli.outputs import OutputOptions, Page
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Severity
    from scrapy_robotspec.render.terminal import Screen

_EXAMPLES = """\
  robotspec lint robots.txt
  robotspec lint robots.txt --edition google
  robotspec lint folder --advice --statistics
  robotspec lint robots.txt --select RS2,RS3 --ignore RS205
  robotspec lint --explain RS301"""

#: Each severity with the noun that counts it.
NOUNS: Mapping[Severity, Sequence[str]] = {
    "error": ["error"],
    "warning": ["warning"],
    "advice": ["piece of advice", "pieces of advice"],
}


@options.command("lint", _EXAMPLES)
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--advice", is_flag=True, help="Show advice, too; it does not change the exit code.")
@click.option("--strict", is_flag=True, help="As --advice, and exit with 1 for advice, too.")
@click.option("--select", metavar="CODES", multiple=True, help="Only these codes: RS301,RS2")
@click.option("--ignore", metavar="CODES", multiple=True, help="All but these codes.")
@click.option("--statistics", is_flag=True, help="Count the findings of each code instead.")
@click.option("--explain", metavar="CODE", help="Say what a code means and what to do.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(list(FORMATS)),
    default="text",
    help="text; json: an object a line; github: annotations; sarif: one SARIF document.",
)
@options.site_options
@options.jobs_option
@options.output_options
def command(
    session: Session,
    files: Sequence[str],
    advice: bool,
    strict: bool,
    select: Sequence[str],
    ignore: Sequence[str],
    statistics: bool,
    explain: str | None,
    output_format: str,
    sites: SiteOptions,
    jobs: int | None,
    output: OutputOptions,
) -> int:
    """Find what is ignored, misspelled, without effect, or probably not meant.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site. Errors and warnings are shown, advice with --advice.
    """
    screen = session.screen
    if explain is not None:
        for line in explain_code(explain, screen):
            screen.say(line)
        return 0
    if not files:
        raise MisuseError("give a FILE, or --explain CODE")
    selection = Selection.of(select, ignore, advice or strict)
    shown = output.open(files)
    sources = open_sources(files, session, sites)
    missing = [source for source in sources if source.note_missing(screen)]
    work = [(source, session.edition(sites.edition)) for source in sources if source not in missing]
    linted = [
        (name, [finding for finding in findings if selection.has(finding)])
        for name, findings in map_in_order(_lint, work, jobs, screen)
    ]
    form = "json" if shown.as_json else output_format
    if not shown.is_page_only:
        if statistics:
            _say_statistics(linted, form, screen)
        else:
            FORMATS[form](linted, screen)
    severities = [finding.severity for _, findings in linted for finding in findings]
    if form == "text" and work:
        screen.note(summary(severities, len(linted)))
    if shown.page is not None:
        _write_page(shown.page, session, work, linted)
    if any(source.is_unreachable for source in missing):
        return UNREACHABLE
    return 1 if (strict and severities) or set(severities) - {"advice"} else 0


def _lint(work: tuple[Source, Edition]) -> Linted:
    source, edition = work
    return source.name, list(source.parse(edition).lint())


def summary(severities: Sequence[Severity], files: int) -> str:
    """The number of findings of each severity."""
    parts = [
        count(number, *NOUNS[severity])
        for severity in NOUNS
        if (number := severities.count(severity))
    ]
    where = f" in {count(files, 'file')}" if files > 1 else ""
    return (listed(parts) or "no findings") + where


def _say_statistics(linted: Iterable[Linted], form: str, screen: Screen) -> None:
    found = [finding for _, findings in linted for finding in findings]
    severities = {finding.code: finding.severity for finding in found}
    numbers = Counter(finding.code for finding in found).most_common()
    if form == "text":
        rows = [(f"{n:,}", code, severities[code], CODES[code].message) for code, n in numbers]
        for line in columns(rows):
            screen.say(line)
        return
    from scrapy_robotspec.render.as_json import dumps

    for code, number in numbers:
        shown = {"code": code, "severity": severities[code], "count": number}
        screen.say(dumps({**shown, "message": CODES[code].message}))


def _write_page(
    page: Page,
    session: Session,
    work: Sequence[tuple[Source, Edition]],
    linted: Sequence[Linted],
) -> None:
    from scrapy_robotspec.render.lint_page import MOST_WHOLE_FILES, lint_page
    from scrapy_robotspec.render.parsed_file import ParsedFile

    files = []
    if len(work) <= MOST_WHOLE_FILES:
        files = [ParsedFile(source.parse(edition)) for source, edition in work]
    page.write(lint_page(linted, files, now=session.now), session.screen)
