"""Writes ``docs/crawlers.md`` and ``details.md`` from the outcomes kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.crawlers import outcomes
from conformance.crawlers.programs import LEFT_OUT, PROGRAMS
from conformance.crawlers.situations import SITUATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "crawlers.md"
DETAILS = HERE / "details.md"
DETAILS_HEAD = """\
# Requests of other crawlers

For each program the situations in which it did not do as RFC 9309 states, with the paths that it
requested. `python3 run.py crawlers` writes this list; `results.json` contains all of them.
"""
#: Topics of situations that the table of programs has columns for.
COLUMNS = ("redirect", "status", "group", "allow", "wildcards")
CLIENT_ERRORS = tuple(f"status-{status}" for status in (401, 403, 404, 410, 429))
SERVER_ERRORS = ("status-500", "status-503")


def write(programs: Mapping[str, Any]) -> None:
    """Write both pages."""
    for path, text in ((PAGE, render(programs)), (DETAILS, render_details(programs))):
        path.write_text(text, encoding="utf-8", newline="\n")


def render(programs: Mapping[str, Any]) -> str:
    """The page of the documentation."""
    found = {name: kept["requested"] for name, kept in programs.items()}
    asking = {name: each for name, each in found.items() if outcomes.asks(each)}
    never = [title(name) for name in found if name not in asking]
    parts = {
        "situations": len(SITUATIONS),
        "asking": len(asking),
        "never": _join(never) or "None of the others",
        "request": "request" if len(never) > 1 else "requests",
        "reliable": _join(_reliable(asking.values())),
        "counts": "\n".join(_counts(asking.values())),
        "programs": _table(programs),
        "left_out": _left_out(programs),
    }
    text = (HERE / "page.md").read_text("utf-8")
    for key, value in parts.items():
        text = text.replace(f"{{{key}}}", str(value))
    return f"{text.rstrip()}\n"


def render_details(programs: Mapping[str, Any]) -> str:
    """The differences of each program."""
    lines = [DETAILS_HEAD]
    for name, kept in programs.items():
        lines.append(f"## {_release(name, kept)}\n")
        if not outcomes.asks(kept["requested"]):
            lines.append("Requests no robots.txt.\n")
            continue
        lines += [
            f"- {situation.about}: {_paths(kept['requested'][key])}"
            for key, situation in SITUATIONS.items()
            if not outcomes.conforms(situation, kept["requested"][key])
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def title(name: str) -> str:
    """The name of a program as its authors write it."""
    return PROGRAMS[name].title or name


def _release(name: str, kept: Mapping[str, Any]) -> str:
    """Name and version, without the epoch that Debian adds."""
    return f"{title(name)} {kept['version'].rpartition(':')[2]}"


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths) or "nothing"


def _share(name: str, asking: Iterable[outcomes.Outcomes]) -> list[bool]:
    return [outcomes.conforms(SITUATIONS[name], each[name]) for each in asking]


def _reliable(asking: Iterable[outcomes.Outcomes]) -> list[str]:
    everyone = [*asking]
    return [each.about for key, each in SITUATIONS.items() if all(_share(key, everyone))]


def _counts(asking: Iterable[outcomes.Outcomes]) -> list[str]:
    """Lines for situations without a column that six programs or more fail, the worst first."""
    everyone = [*asking]
    shares = {
        key: sum(_share(key, everyone))
        for key, situation in SITUATIONS.items()
        if situation.topic not in COLUMNS
    }
    partly = sorted(
        (key for key in shares if shares[key] + 6 <= len(everyone)), key=shares.__getitem__
    )
    return [f"- {shares[key]}: {SITUATIONS[key].about}" for key in partly]


def _table(programs: Mapping[str, Any]) -> str:
    heads = ["program", "redirect", "4xx", "5xx", "group", "rules"]
    rows = [heads, ["---"] * len(heads)]
    for name, kept in programs.items():
        found: outcomes.Outcomes = kept["requested"]
        if outcomes.asks(found):
            rows.append([_release(name, kept), *_cells(found)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(found: outcomes.Outcomes) -> Sequence[str]:
    return (
        outcomes.redirects(found),
        outcomes.statuses(found, CLIENT_ERRORS),
        outcomes.statuses(found, SERVER_ERRORS),
        outcomes.groups(found),
        outcomes.rules(found),
    )


def _left_out(programs: Mapping[str, Any]) -> str:
    """A sentence for the programs without results."""
    missing = [title(name) for name in PROGRAMS if name not in programs]
    names = _join([*missing, *LEFT_OUT])
    return f"Left out, because they do not run here: {names}." if names else ""


def _join(names: Iterable[str]) -> str:
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last
