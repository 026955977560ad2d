"""The linter: reads a file line by line and collects findings.

Time and findings are linear in the file, apart from sorting paths, whatever it contains (SAF-02).
No verdict depends on this package.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.editions import longest_line
from scrapy_robotspec.protocol.file_kind import foreign_kind
from scrapy_robotspec.protocol.groups import STRUCTURE, AllGroups
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, Line, part_in_words, read_lines
from scrapy_robotspec.protocol.lint.effects import Effects
from scrapy_robotspec.protocol.lint.findings import CODES, Finding, Findings, read_data
from scrapy_robotspec.protocol.lint.group_checks import (
    Expected,
    check_allow,
    check_closed,
    check_groups,
    check_outside,
    check_reach,
    check_sitemaps,
    find_redundant,
    reads_alike,
)
from scrapy_robotspec.protocol.lint.line_checks import (
    check_agents,
    check_colon,
    check_form,
    check_other,
    check_rules,
    usual_line,
)
from scrapy_robotspec.protocol.lint.usage_checks import (
    by_crawler,
    check_hidden,
    check_statement,
    read_statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.protocol.robots_file import RobotsFile

#: The codes of files of another kind, by its name.
_FILES = read_data("patterns.json")["files"]


def lint(
    file: RobotsFile, expected: Expected | None = None, *, is_cut: bool = False
) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    ``expected``: whether the site has to be open or closed to crawlers without a group of their
    own; the contrary is an error. ``is_cut``: whether the file is longer than the part that is
    read. A file that is not a robots.txt file has one finding besides. No content raises (SAF-01).
    """
    findings, edition = Findings(file.edition), file.edition
    lines = list(_lines(file, findings, is_cut=is_cut))
    every = AllGroups(file.body, edition, lines)
    effects = Effects(every)
    usual, longest = usual_line(edition).match, longest_line(edition)
    sitemaps: list[Line] = []
    rules: set[int] = set()
    forms: dict[tuple[bytes, bool], list[Any]] = {}  # equal lines have equal faults
    # A part of a byte order mark is skipped by some editions only. A later line of a file that is
    # cut would be read without one that can be deleted.
    alike = not is_cut and (not lines or lines[0].start in (0, len(BYTE_ORDER_MARK)))
    for line, match in zip(lines, map(usual, [line.text for line in lines]), strict=True):
        if match and not match.lastindex:  # hot path
            continue
        if not match:
            alike = alike and reads_alike(line, longest)
            has_room = not is_cut and len(line.text) < longest
            check_colon(line, findings, may_replace=has_room)
            form = (line.text, line.number == 1)
            if form not in forms:
                forms[form] = [fault[1:] for fault in check_form(line, edition)]
            findings.add_all((line, *fault) for fault in forms[form])
        if line.field in STRUCTURE:
            rules.add(line.start)
        else:
            findings.add_all(check_other(line, edition))
        if line.field in ("content-usage", "content-signal"):
            findings.add_all(check_statement(read_statement(line)))
        elif line.field == "sitemap" and edition.other_fields:
            sitemaps.append(line)
    faults = chain(
        check_outside(every.outside, edition),
        check_rules(effects, rules),
        check_agents(effects),
        check_groups(effects),
        check_sitemaps(sitemaps, effects),
        check_hidden(every.signals, by_crawler(every.groups)),
        check_reach(every, effects),
    )
    findings.add_all(faults)
    if alike:
        for fault in find_redundant(effects.groups):
            findings.add(*fault, replacement="")
        check_allow(effects, findings)
    check_closed(effects, findings, expected)
    return findings.sorted()


def _lines(file: RobotsFile, findings: Findings, *, is_cut: bool) -> Iterable[Line]:
    """The lines of a robots.txt file; none of a file of another kind, which is a finding."""
    if kind := foreign_kind(file.body):
        code = _FILES[kind.name]
        findings.add(None, code, CODES[code].message.removesuffix("."), "reads no rule in it")
        return ()
    if is_cut:
        effect = f"reads {part_in_words(file.body)}"
        findings.add(None, "RS151", "The file is too long", effect)
    return read_lines(file.body, file.edition, every=True)
