"""Writes ``docs/conformance.md`` and ``failures.md``: ``python3 -m conformance.page``.

Runs all known parsers, keeps their results in ``results.json`` and writes the pages from them. The
results of a parser that is not installed stay, as long as the cases are the same. ``--render``
writes the pages from the results kept.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from conformance import results
from conformance.__main__ import run_all
from conformance.build import specifications
from conformance.cases import HERE, SPECIFICATIONS, case_files, cases_of, read_cases
from conformance.parsers import PARSERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.cases import Case
    from conformance.parsers import Parser

PAGE = HERE.parent / "docs" / "conformance.md"
#: Examples of wrong answers, for the authors of parsers.
FAILURES = HERE / "failures.md"
FAILURES_HEAD = """\
# Failed statements of the parsers

A statement counts once, in whatever number of cases it fails. Behind its ID (explained in
`docs/specification.md`): the smallest file that shows the failure, the URL, and the wrong answer.
`results.json` names all cases.
"""
#: Seconds for one answer when the page is made, on a busy machine too.
TIMEOUT = 60.0
#: Characters of a file that are shown.
MAX_FILE = 160


def render(kept: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """The page, from results that belong to these cases."""
    by_id = {case.id: case for case in cases}
    template = (HERE / "page.md").read_text("utf-8")
    parts = {
        "specifications": _table_of_specifications(),
        "parsers": _table_of_parsers(kept["parsers"]),
        "scores": _table_of_scores(kept["parsers"], by_id),
    }
    for name, text in parts.items():
        template = template.replace(f"{{{name}}}", text)
    return template


def _table_of_specifications() -> str:
    rows = []
    for name in SPECIFICATIONS:
        cases, about = cases_of(name), specifications()[name]
        required = sum(case.required for case in cases)
        wrong = about.get("wrong_parsers", "–")
        rows.append([f"`{name}`", about["title"], required, len(cases) - required, wrong])
    heads = ["specification", "what it is", "required cases", "open cases", "wrong parsers caught"]
    return _table(heads, rows)


def _table_of_parsers(parsers: Mapping[str, Any]) -> str:
    rows = [
        [
            f"[{name}]({PARSERS[name].link})",
            PARSERS[name].language,
            kept["version"],
            PARSERS[name].claim,
        ]
        for name, kept in parsers.items()
    ]
    return _table(["parser", "language", "version", "its claim"], rows)


def _table_of_scores(parsers: Mapping[str, Any], by_id: Mapping[str, Case]) -> str:
    rows = [
        [
            f"`{score.specification}`",
            name,
            f"{score.passed} of {score.required}" if score.required else "–",
            len(_by_statement(kept["failures"], by_id, score.specification)),
            f"{score.agreed} of {score.open}",
            score.unsupported,
        ]
        for name, kept in parsers.items()
        for score in results.scores(name, kept)
    ]
    rows.sort(key=lambda row: SPECIFICATIONS.index(str(row[0]).strip("`")))
    heads = ["specification", "parser", "required: passed", "failed statements"]
    return _table([*heads, "open: as read here", "not supported"], rows)


def render_failures(kept: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """The list of failed statements, from results that belong to these cases."""
    by_id = {case.id: case for case in cases}
    parts = [FAILURES_HEAD, *_failures(kept["parsers"], by_id)]
    return "\n".join(parts).rstrip() + "\n"


def _failures(parsers: Mapping[str, Any], by_id: Mapping[str, Case]) -> Iterator[str]:
    for name, kept in parsers.items():
        for specification in PARSERS[name].claims:
            grouped = _by_statement(kept["failures"], by_id, specification)
            if grouped:
                yield f"## {name}: {specification}\n"
                for statement, cases in grouped.items():
                    yield f"- {statement}: {_example(cases[0], kept['failures'])}"
                yield ""


def _example(case: Case, given: Mapping[str, str]) -> str:
    """A file in one line, as Python writes bytes, the URL, and the wrong answer."""
    file = repr(case.body)[2:-1]
    if len(file) > MAX_FILE:
        file = f"{file[:MAX_FILE]} … ({len(case.body):,} bytes)"
    asked = (case.url or case.question).removeprefix("http://example.com")
    return f"{_code(file)} {_code(asked[:MAX_FILE])} {_code(given[case.id])}"


def _code(text: str) -> str:
    """Text in a code span; one that contains a backtick needs two."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _by_statement(
    ids: Iterable[str], by_id: Mapping[str, Case], specification: str
) -> dict[str, list[Case]]:
    """Cases of a specification by statement, those with small files first."""
    grouped: dict[str, list[Case]] = {}
    for case in sorted((by_id[name] for name in ids), key=lambda case: len(case.body)):
        if case.specification == specification:
            grouped.setdefault(case.data["statement"], []).append(case)
    return dict(sorted(grouped.items()))


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def measure(kept: Mapping[str, Any], cases: Iterable[Case]) -> dict[str, Any]:
    """The results of all parsers, new ones where a parser is installed.

    ``SystemExit`` where one is not and the results kept are not of these cases.
    """
    old = kept["parsers"] if kept["cases"] == results.digest(cases) else {}
    missing = [each for each in PARSERS.values() if each.version() is None]
    lost = [f"{each.name}: {each.install}" for each in missing if each.name not in old]
    if lost:
        raise SystemExit("\n".join(["These parsers are not installed. Try:", *lost]))
    for each in missing:
        version = old[each.name]["version"]
        print(f"{each.name} is not installed; its results of {version} stay", file=sys.stderr)
    return {
        name: old[name] if parser in missing else _measure_one(parser)
        for name, parser in PARSERS.items()
    }


def _measure_one(parser: Parser) -> dict[str, Any]:
    print(f"{parser.name} …", file=sys.stderr)
    found = run_all(parser.command(), parser.claims, TIMEOUT)
    return {"version": parser.version(), **results.collect(found)}


def main(arguments: Sequence[str]) -> int:
    """Measure, unless only rendering is asked for, and write the page."""
    cases = list(read_cases(case_files()))
    if list(arguments) != ["--render"]:
        results.write(cases, measure(results.read(), cases))
    kept = results.read()
    if kept["cases"] != results.digest(cases):
        print("the cases have changed; run without --render", file=sys.stderr)
        return 1
    for page, text in ((PAGE, render(kept, cases)), (FAILURES, render_failures(kept, cases))):
        page.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
