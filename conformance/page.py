"""Writes ``docs/conformance.md``: ``python3 -m conformance.page``.

Runs all known parsers, keeps their results in ``results.json`` and writes the page from them. The
results of a parser that is not installed stay, as long as the cases are the same. ``--render``
writes the page from the results kept.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from conformance import results
from conformance.__main__ import run_all
from conformance.build import specifications
from conformance.cases import HERE, SPECIFICATIONS, case_files, cases_of, read_cases
from conformance.parsers import PARSERS
from conformance.score import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.adapters import Adapter
    from conformance.cases import Case
    from conformance.programs import Program

PAGE = HERE.parent / "docs" / "conformance.md"
#: Seconds for one answer when the scoreboard is made.
TIMEOUT = 10.0


def render(kept: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """The page, from results that belong to these cases."""
    by_id = {case.id: case for case in cases}
    template = (HERE / "page.md").read_text("utf-8")
    parts = {
        "specifications": _table_of_specifications(),
        "parsers": _table_of_parsers(kept["parsers"]),
        "scores": _table_of_scores(kept["parsers"]),
        "failures": "\n".join(_failures(kept["parsers"], by_id)).rstrip(),
        "open": _table_of_open_points(kept["parsers"], by_id),
    }
    for name, text in parts.items():
        template = template.replace(f"{{{name}}}", text)
    return template


def _table_of_specifications() -> str:
    rows = []
    for name in SPECIFICATIONS:
        cases = cases_of(name)
        required = sum(case.required for case in cases)
        rows.append([f"`{name}`", specifications()[name]["title"], required, len(cases) - required])
    return _table(["specification", "what it is", "required cases", "open cases"], rows)


def _table_of_parsers(parsers: Mapping[str, Any]) -> str:
    rows = [
        [
            f"[{name}]({PARSERS[name].link})",
            PARSERS[name].language,
            kept["version"],
            PARSERS[name].claim,
            ", ".join(f"`{claim}`" for claim in PARSERS[name].claims),
        ]
        for name, kept in parsers.items()
    ]
    return _table(["parser", "language", "version", "its claim", "cases asked"], rows)


def _table_of_scores(parsers: Mapping[str, Any]) -> str:
    rows = [
        [
            f"`{score.specification}`",
            name,
            f"{score.passed} of {score.required}" if score.required else "–",
            score.failed,
            f"{score.agreed} of {score.open}",
            score.unsupported,
        ]
        for name, kept in parsers.items()
        for score in results.scores(name, kept)
    ]
    rows.sort(key=lambda row: SPECIFICATIONS.index(str(row[0]).strip("`")))
    heads = ["specification", "parser", "required: passed", "failed", "open: as read here"]
    return _table([*heads, "not supported"], rows)


def _failures(parsers: Mapping[str, Any], by_id: Mapping[str, Case]) -> Iterator[str]:
    for name, kept in parsers.items():
        yield f"### {name} {kept['version']}\n"
        if not kept["failures"]:
            yield "No failures.\n"
        grouped = _by_statement(by_id[case_id] for case_id in kept["failures"])
        for cases in grouped.values():
            yield from _statement(cases, kept["failures"])


def _by_statement(cases: Iterable[Case]) -> dict[tuple[str, str], list[Case]]:
    grouped: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        grouped.setdefault((case.specification, case.data["statement"]), []).append(case)
    return dict(
        sorted(grouped.items(), key=lambda item: (SPECIFICATIONS.index(item[0][0]), item[0][1]))
    )


def _statement(cases: Sequence[Case], given: Mapping[str, str]) -> Iterator[str]:
    """A statement, and below it each case that fails, those alike together."""
    data = cases[0].data
    source = f"[{data['source']}]({data['link']})"
    yield f"**{data['statement']}** {_escape(data['text'])} ({source})\n"
    alike: dict[str, list[str]] = {}
    for case in cases:
        result = given[case.id]
        if result in ("allowed", "disallowed"):
            result += f", not {show(case.question, case.expected)}"
        why = "" if data["statement"] == "REF" else f"{case.data['why']}: "
        alike.setdefault(f"{_escape(why)}{_escape(result)}", []).append(_question(case))
    for text, questions in alike.items():
        yield f"- {text} ({len(questions)}): {', '.join(questions)}"
    yield ""


def _question(case: Case) -> str:
    """The last part of a case's name, with the path that is asked about unless it is generated."""
    name = f"`{case.id.rpartition('/')[2]}`"
    if case.url is None or case.data["statement"] == "REF":
        return name
    return f"`{case.url.removeprefix('http://example.com')}` {name}"


def _table_of_open_points(parsers: Mapping[str, Any], by_id: Mapping[str, Case]) -> str:
    rows = []
    for name, kept in parsers.items():
        grouped = _by_statement(by_id[case_id] for case_id in kept["differences"])
        for (specification, statement), cases in grouped.items():
            text = _escape(cases[0].data["text"])
            rows.append([f"`{specification}`", name, statement, text, len(cases)])
    rows.sort(key=lambda row: SPECIFICATIONS.index(str(row[0]).strip("`")))
    return _table(["specification", "parser", "statement", "as read here", "cases"], rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _escape(text: str) -> str:
    """Text that Markdown shows as it stands."""
    for char in "\\`*_|<>[]$":
        text = text.replace(char, f"\\{char}")
    return text


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


def _measure_one(parser: Adapter | Program) -> dict[str, Any]:
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
    PAGE.write_text(render(kept, cases), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
