"""The table: how pages ended in, text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

End = dict[str, Any]

#: What a decision's reason means for the origin, in the words of the table.
MEANINGS = {
    "rule": "its rules decide",
    "no_rule": "its rules decide",
    "no_group": "its rules decide",
    "robots_txt_itself": "its rules decide",
    "unavailable": "no restrictions",
    "unreachable": "nothing may be crawled",
    "limit_passed": "unreachable for very long",
    "policy": "decided by a setting",
    "override": "decided by a setting",
    "usage": "its usage preferences decide",
}


def table(ends: Iterable[End]) -> str:
    """The ends as text: one line per origin, below it one line per refused page."""
    blocks: dict[tuple[str, str, str], list[End]] = {}
    for end in sorted(ends, key=lambda end: (end["place"], end["note"])):
        blocks.setdefault((end["case"], end["origin"], end["note"]), []).append(end)
    rows = [HEAD, *(summary(*key, block) for key, block in blocks.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    details = [[], *(list(refusals(block)) for block in blocks.values())]
    lines: list[str] = []
    for row, below in zip(rows, details, strict=True):
        lines.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
        lines.extend(f"{'':{widths[0]}}  - {line}" for line in below)
    return "\n".join(lines)


HEAD = ("site", "origin", "robots.txt answered", "so", "crawled", "refused", "first after")


def summary(case: str, origin: str, note: str, block: Sequence[End]) -> tuple[str, ...]:
    """The line of one origin."""
    crawled = sum(end["crawled"] for end in block)
    name = f"{case}, {note}" if note else case
    counts = str(crawled), str(len(block) - crawled)
    first = f"{min(end['seconds'] for end in block):.1f} s"
    return name, origin, answered(block), meaning(block), *counts, first


def answered(block: Sequence[End]) -> str:
    """What robots.txt answered, in words."""
    end = block[-1]
    status = str(end["status"]) if end["status"] else "nothing"
    if not end["hops"]:
        return status
    return f"{status} after {end['hops']} redirect{'s' if end['hops'] > 1 else ''}"


def meaning(block: Sequence[End]) -> str:
    """What that meant for the pages of the origin."""
    return MEANINGS[block[-1]["reason"]]


def refusals(block: Iterable[End]) -> Iterable[str]:
    """Each refused page and the line that refused it."""
    for end in sorted(block, key=lambda end: end["path"]):
        if end["crawled"]:
            continue
        if end["line"]:
            rule = " ".join(end["rule"].split())
            yield f"{end['path']}  refused by line {end['line']}: {rule}"
        else:
            yield f"{end['path']}  refused, {end['reason']}"
