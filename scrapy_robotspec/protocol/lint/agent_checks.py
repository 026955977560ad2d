"""Checks of one user-agent line (UAG-03, UAG-09, UAG-10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import named_agent, product_name
from scrapy_robotspec.protocol.lint.crawlers import COLLECTORS, IGNORING, meant_crawler
from scrapy_robotspec.protocol.lint.findings import shown
from scrapy_robotspec.protocol.models import DEFAULT, decode

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Findings

#: Text after a name that people write, and that crawlers ignore as they expect: a version, a star.
_IGNORED_TAIL = re.compile(r"(?<=.)(?:[ \t]*/.*|\*)\Z", re.S)

#: A User-Agent header of a browser, or of a crawler that poses as one.
_HEADER = re.compile(r"mozilla[ \t]*/|.*[(;][ \t]*compatible[ \t]*;", re.I | re.S)
#: Names after the first of a list.
_OTHER_NAMES = re.compile(r"[A-Za-z_*-]+[ \t]*[,;][ \t,;]*([A-Za-z_-].*)\Z", re.S)


def check_agent(line: Line, edition: Edition, findings: Findings) -> str | None:
    """Check that a line names one crawler, and nothing else.

    Returns the name that the edition reads; None where it reads none.
    """
    name, value = named_agent(line.value, edition), decode(line.value)
    meant = meant_crawler(value, edition)
    read = f"reads {_quoted(name)}" if name else "reads no name"
    if meant is not None and meant.lower() != (name or "").lower():
        findings.add(line, "RS210", f"{shown(value)} looks like {shown(meant)}", read)
    elif _HEADER.match(value):
        written = f"write {shown(product_name(value))} instead of a User-Agent header"
        findings.add(line, "RS211", f"A line has a name, {written}", read)
    elif not name:
        read = "reads an empty name" if name == "" else read
        findings.add(line, "RS202", "The line names no crawler", read)
    elif name not in (value, _IGNORED_TAIL.sub("", value)):
        others = _OTHER_NAMES.match(value)
        ignored = "The text after the name is ignored"
        if others is not None:  # erratum 8895 of RFC 9309
            ignored = f"A line names one crawler, so {shown(others[1])} is not kept out"
        findings.add(line, "RS203", ignored, read)
    if name and (known := _known_to_ignore(name.lower())):
        findings.add(line, "RS209", f"{shown(name)} {known}", "reads the group like any other")
    return name


def _known_to_ignore(name: str) -> str:
    """How a crawler ignores robots.txt; empty if it is not known to."""
    if name in IGNORING:
        return "may ignore robots.txt, according to its operator"
    return "collects e-mail addresses and ignores robots.txt" if name in COLLECTORS else ""


def _quoted(name: str) -> str:
    return "every crawler" if name == DEFAULT else shown(name)
