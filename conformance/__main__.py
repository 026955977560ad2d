"""``python3 -m conformance``: run the suite against a parser. See README.md.

Exit codes: 0 no required case failed, or known ones only; 1 some failed; 2 misuse.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cases import SPECIFICATIONS, case_files, cases_of, read_cases
from conformance.parsers import PARSERS
from conformance.report import as_badge, as_json, as_text, describe, new_failures
from conformance.score import request, run, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases import Case
    from conformance.score import Result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m conformance", description="Run the robots.txt conformance suite."
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--parser", metavar="NAME", help="a known parser; --list names them")
    target.add_argument("--command", help="a program that answers on stdin and stdout")
    target.add_argument(
        "--show", metavar="ID", help="show a case; the last part of its ID suffices"
    )
    target.add_argument("--list", action="store_true", help="list parsers and specifications")
    parser.add_argument(
        "--spec",
        action="append",
        choices=SPECIFICATIONS,
        help="a specification; may be repeated (default: what the parser claims, else rfc9309)",
    )
    parser.add_argument("--timeout", type=_seconds, default=5.0, help="seconds for one answer (5)")
    parser.add_argument(
        "--open", action="store_true", help="also list other readings of open points"
    )
    parser.add_argument(
        "--known",
        metavar="FILE",
        type=_read_ids,
        default=frozenset(),
        help="IDs of cases that may fail, one a line",
    )
    parser.add_argument("--badge", metavar="FILE", type=Path, help="write the score as a badge")
    parser.add_argument("--json", action="store_true", help="write JSON; of --show the request")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 3600:
        raise ValueError(text)
    return seconds


def _read_ids(path: str) -> frozenset[str]:
    """The first word of each line; ``ValueError`` if the file cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path}: {error.strerror}") from error
    words = (line.partition("#")[0].split() for line in text.splitlines())
    return frozenset(found[0] for found in words if found)


def _list() -> None:
    for parser in PARSERS.values():
        version = parser.version() or f"not installed, try: {parser.install}"
        print(f"{parser.name} ({parser.language}, {version}) claims {', '.join(parser.claims)}")
    for name in SPECIFICATIONS:
        cases = cases_of(name)
        required = sum(case.required for case in cases)
        print(f"{name}: {required} required cases, {len(cases) - required} open ones")


def _show(name: str, as_request: bool) -> int:
    every = read_cases(case_files())
    cases = [case for case in every if name in (case.id, case.id.rpartition("/")[2])]
    for case in cases:
        print(json.dumps(request(case)) if as_request else "\n".join(describe(case)))
    if not cases:
        print(f"--show {name}: no case has this ID", file=sys.stderr)
    return 0 if cases else 2


def run_all(command: Sequence[str], specifications: Sequence[str], timeout: float) -> list[Result]:
    """The results of a command for some specifications."""
    cases: list[Case] = [case for name in specifications for case in cases_of(name)]
    return list(run(command, cases, timeout))


def _target(options: argparse.Namespace) -> tuple[str, list[str], Sequence[str]]:
    """Name and command of the parser, and the specifications that it claims."""
    if options.parser is None:
        command = shlex.split(options.command)
        if not command:
            raise ValueError("no program given")
        return options.command, command, ["rfc9309"]
    parser = PARSERS.get(options.parser)
    if parser is None:
        raise ValueError("unknown parser, see --list")
    version = parser.version()
    if version is None:
        raise ValueError(f"not installed, try: {parser.install}")
    return f"{parser.name} {version}", parser.command(), parser.claims


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite; the exit code is returned."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has what it wants, as head does
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return 1
    return code


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        _list()
        return 0
    if options.show is not None:
        return _show(options.show, options.json)
    try:
        name, command, specifications = _target(options)
        results = run_all(command, options.spec or specifications, options.timeout)
    except (OSError, ValueError) as error:
        print(f"{options.parser or options.command!r} cannot be run: {error}", file=sys.stderr)
        return 2
    specifications = options.spec or specifications
    scores = [score(specification, results) for specification in specifications]
    if options.badge is not None:
        options.badge.write_text(json.dumps(as_badge(scores)) + "\n", encoding="ascii")
    if options.json:
        print(json.dumps(as_json(name, scores, results), indent=2))
    else:
        print("\n".join(as_text(name, scores, results, options.known, options.open)))
    return 1 if new_failures(results, options.known) else 0


if __name__ == "__main__":
    sys.exit(main())
