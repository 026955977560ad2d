"""``docs/conformance.md`` shows the results that are kept, and they belong to the shipped cases."""

from __future__ import annotations

import pytest

from conformance import results
from conformance.__main__ import run_all
from conformance.cases import case_files, read_cases
from conformance.page import FAILURES, PAGE, measure, render, render_failures
from conformance.parsers import PARSERS

CASES = list(read_cases(case_files()))
KEPT = results.read()


def test_results_belong_to_the_cases() -> None:
    """After a change of a case: ``python3 run.py conformance``."""
    assert KEPT["cases"] == results.digest(CASES)


def test_page_shows_the_results() -> None:
    """After a change of words: ``python3 -m conformance.page --render``."""
    assert PAGE.read_text("utf-8") == render(KEPT, CASES)
    assert FAILURES.read_text("utf-8") == render_failures(KEPT, CASES)


def test_every_parser_is_on_the_page_and_every_result_is_of_a_claim() -> None:
    """No parser is asked for what it does not claim."""
    assert KEPT["parsers"].keys() == PARSERS.keys()
    for name, kept in KEPT["parsers"].items():
        ids = [*kept["failures"], *kept["differences"], *kept["unsupported"]]
        assert {case_id.partition("/")[0] for case_id in ids} <= {*PARSERS[name].claims}
        assert {*ids} <= {case.id for case in CASES}


@pytest.mark.parametrize("name", sorted({*PARSERS} - {"scrapy-robotspec"}))  # see test_run.py
def test_results_are_those_of_the_installed_parser(name: str) -> None:
    """Measured again where the same version is installed."""
    parser, kept = PARSERS[name], KEPT["parsers"][name]
    if parser.version() != kept["version"]:
        pytest.skip(f"results are of {name} {kept['version']}, installed: {parser.version()}")
    found = results.collect(run_all(parser.command(), parser.claims, timeout=60))
    assert {"version": kept["version"], **found} == kept


@pytest.fixture
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in {type(parser) for parser in PARSERS.values()}:
        monkeypatch.setattr(kind, "version", lambda _: None)


@pytest.mark.usefixtures("_nothing_installed")
def test_results_of_a_parser_that_is_not_installed_stay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The page does not depend on what a machine has, and the output says so."""
    assert measure(KEPT, CASES) == KEPT["parsers"]
    said = capsys.readouterr().err
    for name, kept in KEPT["parsers"].items():
        assert f"{name} is not installed; its results of {kept['version']} stay\n" in said


@pytest.mark.usefixtures("_nothing_installed")
def test_results_of_other_cases_are_not_kept() -> None:
    """The parsers have to be installed then, and the message says how."""
    with pytest.raises(SystemExit) as stop:
        measure(KEPT, CASES[1:])
    for parser in PARSERS.values():
        assert f"{parser.name}: {parser.install}" in str(stop.value)
