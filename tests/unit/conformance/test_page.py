"""``docs/conformance.md`` shows the results that are kept, and they belong to the shipped cases."""

from __future__ import annotations

import pytest

from conformance import results
from conformance.__main__ import command_of, run_all
from conformance.adapters import ADAPTERS
from conformance.cases import case_files, read_cases
from conformance.page import PAGE, render

CASES = list(read_cases(case_files()))
KEPT = results.read()


def test_results_belong_to_the_cases() -> None:
    """After a change of a case: ``python3 run.py conformance``."""
    assert KEPT["cases"] == results.digest(CASES)


def test_page_shows_the_results() -> None:
    """After a change of words: ``python3 -m conformance.page --render``."""
    assert PAGE.read_text("utf-8") == render(KEPT, CASES)


def test_every_parser_is_on_the_page_and_every_result_is_of_a_claim() -> None:
    """No parser is asked for what it does not claim."""
    assert KEPT["parsers"].keys() == ADAPTERS.keys()
    for name, kept in KEPT["parsers"].items():
        ids = [*kept["failures"], *kept["differences"], *kept["unsupported"]]
        assert {case_id.partition("/")[0] for case_id in ids} <= {*ADAPTERS[name].claims}
        assert {*ids} <= {case.id for case in CASES}


def test_open_points_are_no_failures() -> None:
    """Only a case whose specification states the answer can be failed by an answer."""
    required = {case.id for case in CASES if case.required}
    for kept in KEPT["parsers"].values():
        wrong = {name for name, given in kept["failures"].items() if given.endswith("allowed")}
        assert wrong <= required
        assert not {*kept["differences"]} & required


@pytest.mark.parametrize("name", sorted({*ADAPTERS} - {"scrapy-robotspec"}))  # see test_run.py
def test_results_are_those_of_the_installed_parser(name: str) -> None:
    """Measured again where the same version is installed."""
    adapter, kept = ADAPTERS[name], KEPT["parsers"][name]
    if adapter.version() != kept["version"]:
        pytest.skip(f"results are of {name} {kept['version']}, installed: {adapter.version()}")
    found = results.collect(run_all(command_of(name), adapter.claims, timeout=60))
    assert {"version": kept["version"], **found} == kept
