"""The results of one parser, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.cases import SPECIFICATIONS
from conformance.score import GIVE_UP_AFTER, show

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from conformance.cases import Case
    from conformance.score import Result, Score


def as_json(parser: str, scores: Sequence[Score], results: Iterable[Result]) -> dict[str, Any]:
    """Counts, failures, and other readings of open points."""
    listed = list(results)
    return {
        "parser": parser,
        "scores": [asdict(score) for score in scores],
        "failures": [_entry(result) for result in listed if result.failed],
        "differences": [_entry(result) for result in differences(listed)],
    }


def differences(results: Iterable[Result]) -> Iterator[Result]:
    """Answers that differ from ours where the specification leaves the point open."""
    return (each for each in results if each.asked and not each.passed and not each.failed)


def new_failures(results: Iterable[Result], known: Collection[str]) -> list[Result]:
    """Failures of cases whose IDs are not known."""
    return [result for result in results if result.failed and result.case.id not in known]


def as_text(
    parser: str,
    scores: Sequence[Score],
    results: Sequence[Result],
    known: Collection[str],
    show_open: bool,
) -> Iterator[str]:
    """Lines: the counts, then each failure below its statement."""
    yield parser
    for score in scores:
        yield (
            f"{score.specification}: {score.passed} of {score.required} required cases passed, "
            f"{_failed(score)}; {score.open} points that it leaves open, "
            f"{score.agreed} read as here; {score.unsupported} cases not supported"
        )
    failed = new_failures(results, known)
    listed = [result for result in failed if result.response.kind != "not asked"]
    if len(listed) < len(failed):
        yield (
            f"\nThe program broke down {GIVE_UP_AFTER} times in a row, the last time at "
            f"{listed[-1].case.id}. The other {len(failed) - len(listed)} cases were "
            "not asked and count as failed."
        )
    yield from _list(listed)
    yield from _about_known(results, known)
    if show_open:
        yield "\nOpen points that this parser reads differently, which is not a failure:"
        yield from _list(differences(results))


def _failed(score: Score) -> str:
    """Number of failures, and of those that are not among the required cases."""
    others = score.failed - (score.required - score.passed)
    breakdowns = f" ({others} of them breakdowns at open points)" if others else ""
    statements = "1 statement" if score.statements == 1 else f"{score.statements} statements"
    of = f" in {statements}" if score.failed else ""
    return f"{score.failed} failed{of}{breakdowns}"


def as_badge(scores: Sequence[Score]) -> dict[str, Any]:
    """A badge in the format of shields.io's endpoint."""
    passed, required = (
        sum(getattr(each, key) for each in scores) for key in ("passed", "required")
    )
    return {
        "schemaVersion": 1,
        "label": ", ".join(score.specification for score in scores),
        "message": f"{passed} of {required}",
        "color": "brightgreen" if passed == required else "orange",
    }


def _about_known(results: Iterable[Result], known: Collection[str]) -> Iterator[str]:
    asked = {result.case.id: result for result in results if result.case.id in known}
    failing = sum(result.failed for result in asked.values())
    if failing:
        yield f"\n{failing} known failures are not listed."
    repaired = [name for name, result in asked.items() if not result.failed]
    if repaired:
        yield "\n".join(["\nKnown as failures, but they do not fail:", *repaired])


def describe(case: Case) -> Iterator[str]:
    """A case as text: statement, numbered lines, question and answer."""
    data = case.data
    yield f"{case.id}: {data['why']}"
    yield f"statement: {data['text']}"
    yield f"source: {data['source'] or 'open'} {data['link'] or ''}".rstrip()
    lines = case.body.splitlines(keepends=True)
    yield from (f"{number:4} {_shown(line)}" for number, line in enumerate(lines, 1))
    crawler = ", ".join(case.tokens) or "every crawler"
    yield f"question: {case.question} {_cut(case.url or '')} for {_cut(crawler)}"
    by_line = f" by line {data['line']}" if data.get("line") else ""
    yield f"expected: {show(case.question, case.expected)}{by_line}"


def _shown(line: bytes) -> str:
    """A line as Python writes bytes, shortened in the middle."""
    return _cut(repr(line)[2:-1])


def _cut(text: str) -> str:
    """A text, shortened in the middle."""
    return text if len(text) <= 200 else f"{text[:90]} … ({len(text)} characters) … {text[-90:]}"


def _list(results: Iterable[Result]) -> Iterator[str]:
    heading = ""
    for result in sorted(results, key=_statement):
        case = result.case
        source = case.data["source"] or f"open in {case.specification}"
        if heading != (heading := f"\n{case.data['statement']}  {case.data['text']} ({source})"):
            yield heading
        about = f" {_cut(case.url)}" if case.url is not None else f" {case.question}"
        crawler = f" for {_cut(', '.join(case.tokens))}" if case.tokens else ""
        expected = show(case.question, case.expected)
        yield f"  {case.id}{about}{crawler}: {result.given}, expected: {expected}"
        yield f"    {case.data['why']}"


def _statement(result: Result) -> tuple[int, str, bool]:
    case = result.case
    return SPECIFICATIONS.index(case.specification), case.data["statement"], not case.required


def _entry(result: Result) -> dict[str, Any]:
    response = result.response
    return {"id": result.case.id, "kind": response.kind, "given": response.value}
