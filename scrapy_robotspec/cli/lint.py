"""``lint``: what is wrong with robots.txt files."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from operator import attrgetter
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from scrapy_robotspec._version import __version__
from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, Source, is_pipe, is_url, open_sources
from scrapy_robotspec.cli.session import (
    FOUND,
    GOOD,
    MisuseError,
    Screen,
    Session,
    closest,
)
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK
from scrapy_robotspec.protocol.lint.findings import CODES, Code, Finding
from scrapy_robotspec.protocol.lint.group_checks import UNEXPECTED, Expected
from scrapy_robotspec.protocol.lint.linter import lint
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.text import columns, count, listed, paint, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Severity

_EXAMPLES = """\
  robotspec lint robots.txt
  robotspec lint robots.txt --edition google
  robotspec lint folder --advice --statistics
  robotspec lint robots.txt --advice --fix
  robotspec lint https://example.com --expect open
  robotspec lint robots.txt --select RS2,RS3 --ignore RS205
  robotspec lint --explain RS301"""

#: Columns of an explanation.
_WIDTH = 88

#: A file's name and findings.
Linted = tuple[str, "list[Finding]"]
#: Code and severity of a finding.
Kind = tuple[str, "Severity"]

#: Each severity: its style, and the nouns that count it.
_SEVERITIES: Mapping[Severity, Sequence[str]] = {
    "error": ("bad", "error"),
    "warning": ("note", "warning"),
    "advice": ("faint", "piece of advice", "pieces of advice"),
}

#: Findings of one code that the text lists for one file.
LISTED = 100


def _text(linted: Iterable[Linted], screen: Screen) -> None:
    """``file:line: code severity: message``; the file as a whole has line 1."""
    for name, findings in linted:
        shown = safe(name)
        numbers: Counter[str] = Counter()
        for finding in findings:
            code, severity = finding.code, finding.severity
            numbers[code] += 1
            if numbers[code] <= LISTED:
                what = paint(_SEVERITIES[severity][0], f"{code} {severity}")
                screen.say(f"{shown}:{max(finding.line, 1)}: {what}: {safe(finding.message)}")
        for code, number in sorted(numbers.items()):
            if (left_out := number - LISTED) > 0:
                more = f"{left_out:,} more of {code} not listed"
                screen.note(f"{shown}: {more}; --format json lists all")


def _json(linted: Iterable[Linted], screen: Screen) -> None:
    for name, findings in linted:
        screen.say_json({"file": name, **finding._asdict()} for finding in findings)


def _sarif(linted: Iterable[Linted], screen: Screen) -> None:
    """One document of the Static Analysis Results Interchange Format 2.1.0."""
    found = [(name, finding) for name, findings in linted for finding in findings]
    codes = sorted({finding.code for _, finding in found})
    results = [_result(name, finding, codes.index(finding.code)) for name, finding in found]
    rules = [_rule(CODES[code]) for code in codes]
    driver = {"name": "robotspec", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    screen.say_json([{"$schema": schema, "version": "2.1.0", "runs": [run]}])


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.message},
        "fullDescription": {"text": code.why},
        "help": {"text": code.remedy},
    }


def _result(name: str, finding: Finding, rule: int) -> dict[str, Any]:
    artifact = {"uri": name if "://" in name else quote(os.fsencode(name.replace("\\", "/")))}
    region = {"startLine": max(finding.line, 1)}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": "note" if finding.severity == "advice" else finding.severity,
        "message": {"text": safe(finding.message, None)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }


#: The value of ``--format`` -> the function that prints findings so.
FORMATS: Mapping[str, Callable[[Iterable[Linted], Screen], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
}


@options.command(_EXAMPLES)
@click.argument("files", metavar="FILE...", nargs=-1)
@options.flag("--advice", "Show advice, too; it does not change the exit code.")
@options.flag("--strict", "As --advice, and exit with 1 for advice, too.")
@options.value("--select", "CODES", "Only these codes or names: RS301,RS2,dead-rule", multiple=True)
@options.value("--ignore", "CODES", "All but these.", multiple=True)
@options.flag("--statistics", "Count the findings of each code instead.")
@options.value(
    "--expect",
    None,
    "An error unless the site is open, or closed, to crawlers without a group of their own.",
    type=click.Choice(["open", "closed"]),
)
@options.flag("--fix", "Write the proposals of findings into the files.")
@options.value("--explain code", "CODE", "Say what a code means and what to do.")
@options.value(
    "--format",
    None,
    "text; json: an object a line; sarif: one SARIF document.",
    type=click.Choice(FORMATS),
    default="text",
)
@options.flag("--json wants_json", "As --format json.")
@options.site_options
def lint_command(
    session: Session,
    files: Sequence[str],
    advice: bool,
    strict: bool,
    select: Sequence[str],
    ignore: Sequence[str],
    statistics: bool,
    expect: Expected | None,
    fix: bool,
    code: str | None,
    format: str,  # noqa: A002
    wants_json: bool,
) -> int:
    """Find what is ignored, misspelled, without effect, or probably not meant.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site. Errors and warnings are shown, advice with --advice.
    """
    screen = session.screen
    format = "json" if wants_json else format  # noqa: A001
    if code is not None:
        _explain(_known(code), format == "json", screen)
        return GOOD
    if not files:
        raise MisuseError("give a FILE, or --explain CODE")
    if statistics and format == "sarif":
        raise MisuseError("--statistics counts findings, --format sarif lists them: give one")
    if fix and any(name == STANDARD_INPUT or is_url(name) or is_pipe(name) for name in files):
        raise MisuseError("--fix changes files: give paths")
    usual = {code for code, each in CODES.items() if advice or strict or each.severity != "advice"}
    shown = (_codes(select) or usual) - _codes(ignore)
    sources = open_sources(files, session)
    edition = session.edition
    if fix:
        for source in sources:
            _fix(source, edition, shown, screen)
    numbers: Counter[Kind] = Counter()
    hidden, kind = 0, attrgetter("code", "severity")

    def linted() -> Iterator[Linted]:
        nonlocal hidden
        for source in sources:
            robots = source.parse(edition)
            findings = lint(robots.file, expect, is_cut=robots.truncated)
            found = [each for each in findings if each.code in shown or kind(each) in UNEXPECTED]
            hidden += len(findings) - len(found)
            numbers.update(map(kind, found))
            yield source.name, found

    if statistics:
        for _ in linted():
            pass
        _say_statistics(numbers, format, screen)
    else:
        FORMATS[format](linted(), screen)
    severities = Counter(severity for _, severity in numbers.elements())
    if format == "text" and sources:
        parts = [
            count(severities[each], *nouns)
            for each, (_, *nouns) in _SEVERITIES.items()
            if severities[each]
        ]
        summary = listed(parts) or "no findings"
        summary += f" in {count(len(sources), 'file')}" if len(sources) > 1 else ""
        if hidden and not (numbers or select or ignore):
            summary += f"; {count(hidden, *_SEVERITIES['advice'][1:])} hidden, see --advice"
        screen.note(summary)
    if expect is not None and not strict:  # a gate for deployments
        return FOUND if UNEXPECTED & {*numbers} else GOOD
    return FOUND if (strict and numbers) or set(severities) - {"advice"} else GOOD


def _fix(source: Source, edition: Edition, codes: Collection[str], screen: Screen) -> None:
    """Write the proposals for a file. Raises :class:`MisuseError` where that fails."""
    body = source.read()
    better = fixed(body, edition, codes)
    if better == body:
        return
    said = "not followed, because crawlers would not read the end of the longer file"
    if len(better) <= edition.parsing_limit:
        options.write_file(source.name, better)
        said = "followed"
    screen.note(f"{safe(source.name)}: proposals {said}")


def fixed(body: bytes, edition: Edition, codes: Collection[str]) -> bytes:
    """A file after every proposal of some codes.

    Those are included that others give rise to.
    """
    before = None
    while before != body:
        before = body
        findings = RobotsTxt.parse(body, edition).lint()
        body = follow(body, [finding for finding in findings if finding.code in codes])
    return body


def follow(body: bytes, findings: Iterable[Finding]) -> bytes:
    """A file after the proposals, which change no verdict.

    A deletion counts more than another proposal for the line. A line that is not UTF-8 stays.
    """
    lines = body.splitlines(keepends=True)
    for finding in sorted(findings, key=lambda finding: finding.replacement == ""):
        if finding.replacement is None:
            continue
        line = lines[finding.line - 1]
        with suppress(UnicodeDecodeError):
            line.decode()
            mark = BYTE_ORDER_MARK if line.startswith(BYTE_ORDER_MARK) else b""
            end = line[len(line.rstrip(b"\r\n")) :] if finding.replacement else b""
            lines[finding.line - 1] = mark + finding.replacement.encode() + end
    return b"".join(lines)


def _say_statistics(numbers: Counter[Kind], form: str, screen: Screen) -> None:
    rows = [(*kind, CODES[kind[0]].message, number) for kind, number in numbers.most_common()]
    if form == "json":
        screen.say_json(
            {"code": code, "severity": severity, "count": number, "message": message}
            for code, severity, message, number in rows
        )
    else:
        screen.say(*columns((f"{number:,}", *words) for *words, number in rows))


def _codes(options: Sequence[str]) -> set[str]:
    """The codes of short names, and those that begin with a word."""
    found: set[str] = set()
    for word in [word.strip() for option in options for word in option.split(",")]:
        some = {code for code in CODES if word and code.startswith(word.upper())}
        found |= some or {_known(word).code}
    return found


def _known(word: str) -> Code:
    """The code of a code or short name. Raises :class:`MisuseError` if there is none."""
    word = word.strip()
    names = {name: code for code in CODES.values() for name in (code.code, code.name)}
    found = names.get(word.upper()) or names.get(word.lower())
    if found is None:
        meant = closest(word, names) or "RS301 or no-leading-slash"
        raise MisuseError(f"no such code: {word!r}; give one such as {meant}")
    return found


def _explain(code: Code, as_json: bool, screen: Screen) -> None:
    """Say what a code means."""
    if as_json:
        screen.say_json([code._asdict()])
        return
    title = f"{paint('strong', code.code)} {code.name} ({code.severity}): {code.message}"
    screen.say(title, "", fill(code.why, _WIDTH), "", fill(code.remedy, _WIDTH))
    edition = f" (edition {code.edition})" if code.edition else ""
    for heading, text in ((f"Example{edition}:", code.example), ("Without it:", code.better)):
        if text:
            screen.say("", heading, indent(text.rstrip(), "    "))
