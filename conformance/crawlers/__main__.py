"""Tries crawlers of other projects and writes ``docs/crawlers.md``: ``python3 run.py crawlers``.

Each program is installed into a temporary folder of its own. Names of programs as arguments limit
the run to these; the results of the others stay. ``--render`` writes the page from the results
kept, ``--keep FOLDER`` installs below a folder that stays.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.crawlers import page, results
from conformance.crawlers.crawl import crawl_all
from conformance.crawlers.install import install, variables
from conformance.crawlers.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.crawlers.programs import Program


def try_program(program: Program, folder: Path) -> dict[str, Any]:
    """Install a program, unless it is there, and crawl all situations."""
    if not folder.exists():
        install(program, folder)
    return {"version": program.version, **crawl_all(program, variables(program, folder))}


def _reason(error: Exception) -> str:
    """The last line that an installation wrote, or the error."""
    written = getattr(error, "stderr", None) or ""
    return str([*written.splitlines(), str(error)][-2 if written else -1])


def measure(names: Sequence[str], keep: Path | None) -> list[str]:
    """Try programs, keep their results, and return those without any."""
    missing = []
    for name in names:
        print(f"{name} {PROGRAMS[name].version} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            try:
                found = try_program(PROGRAMS[name], (keep or Path(temporary)) / name)
            except (OSError, subprocess.SubprocessError) as error:
                missing.append(name)
                print(f"left out: {_reason(error)}", file=sys.stderr)
                continue
        known = {**results.read()["programs"], name: found}
        results.write({each: known[each] for each in PROGRAMS if each in known})
    return missing


def main(arguments: Sequence[str]) -> int:
    """Try the programs named, or all, and write the page."""
    parser = argparse.ArgumentParser(prog="run.py crawlers", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument(
        "--render", action="store_true", help="write the page from the results kept"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="install below this folder")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.names} - {*PROGRAMS}):
        parser.error(f"unknown: {', '.join(unknown)}")
    missing = [] if options.render else measure(options.names or [*PROGRAMS], options.keep)
    page.write(results.read()["programs"])
    if missing:
        print(f"could not be had: {', '.join(missing)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
