"""The linter: reads a file line by line and collects findings.

Time and findings are linear in the file, apart from sorting paths, whatever it contains (SAF-02).
No verdict depends on this package.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import longest_line
from scrapy_robotspec.protocol.file_kind import foreign_kind
from scrapy_robotspec.protocol.groups import STRUCTURE, AllGroups
from scrapy_robotspec.protocol.lines import Line, part_in_words, read_lines
from scrapy_robotspec.protocol.lint import group_checks, line_checks, usage_checks
from scrapy_robotspec.protocol.lint.effects import Effects
from scrapy_robotspec.protocol.lint.findings import (
    CODES,
    Fault,
    Faults,
    Finding,
    findings_of,
    read_data,
)
from scrapy_robotspec.protocol.usage import USAGE_FIELDS

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.robots_file import RobotsFile

#: The codes of files of another kind, by its name.
_FILES = read_data("patterns.json")["files"]


def lint(
    file: RobotsFile, expected: group_checks.Expected | None = None, *, is_cut: bool = False
) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    ``expected``: whether the site has to be open or closed to crawlers without a group of their
    own; the contrary is an error. ``is_cut``: whether the file is longer than the part that is
    read. A file that is not a robots.txt file has one finding besides. No content raises (SAF-01).
    """
    found = findings_of(_faults(file, expected, is_cut=is_cut), file.edition)
    if expected == "open":
        found = [
            each._replace(severity="error") if each.code == "RS216" else each for each in found
        ]
    return tuple(found)


def _faults(file: RobotsFile, expected: group_checks.Expected | None, *, is_cut: bool) -> Faults:
    edition = file.edition
    lines: list[Line] = []
    if kind := foreign_kind(file.body):
        code = _FILES[kind.name]
        yield None, code, CODES[code].message.removesuffix("."), "reads no rule in it"
    else:
        lines += read_lines(file.body, edition, every=True)
        if is_cut:
            yield None, "RS151", "The file is too long", f"reads {part_in_words(file.body)}"
    every = AllGroups(file.body, edition, lines)
    effects = Effects(every)
    usual, longest = line_checks.usual_line(edition).match, longest_line(edition)
    sitemaps: list[Line] = []
    rules: set[int] = set()
    forms: dict[tuple[bytes, bool], list[Fault]] = {}  # equal lines have equal faults
    for line, match in zip(lines, map(usual, [line.text for line in lines]), strict=True):
        if match and not match.lastindex:  # hot path
            continue
        faults: list[Fault] = []
        if not match:
            has_room = not is_cut and len(line.text) < longest
            yield from line_checks.check_colon(line, edition, may_replace=has_room)
            form = (line.text, line.number == 1)
            if form not in forms:
                forms[form] = list(line_checks.check_form(line, edition))
            faults += forms[form]
        if line.field in STRUCTURE:
            rules.add(line.start)
        else:
            faults += line_checks.check_other(line, edition)
        if line.field in USAGE_FIELDS:
            faults += usage_checks.check_statement(line)
        elif line.field == "sitemap" and edition.other_fields:
            sitemaps.append(line)
        for fault in faults:
            yield line, *fault
    yield from chain(
        group_checks.check_outside(every.outside, edition),
        line_checks.check_rules(effects, rules),
        line_checks.check_agents(effects),
        group_checks.check_groups(effects),
        group_checks.check_sitemaps(sitemaps, effects),
        usage_checks.check_hidden(every),
        group_checks.check_reach(every, effects),
    )
    # A later line of a file that is cut would be read without one that can be deleted.
    if not is_cut and group_checks.are_read_alike(file.body, edition):
        yield from group_checks.find_redundant(effects.groups)
        yield from group_checks.check_allow(effects)
    yield from group_checks.check_closed(effects, expected)
