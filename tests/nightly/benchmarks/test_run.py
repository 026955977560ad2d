"""The benchmark runs and writes what it promises. It measures; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.hostile import RECIPES
from benchmarks.peers import OURS, PROTEGO


def test_a_quick_run_writes_every_measure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SAF-02, SAF-03: each measure of the tool works, on made files, Protego beside us."""
    out = tmp_path / "out.json"
    assert run.main(["--quick", "--json", str(out), "--plots", str(tmp_path / "plots")]) == 0
    results = json.loads(out.read_text())
    assert set(results["parse"]) >= {OURS, PROTEGO}
    assert set(results["growth"]) == {"prefix", "wildcard"}
    assert all(set(row) >= {"google", "classic"} for row in results["hostile"].values())
    assert all(row["nine in turn"] > 0 for row in results["nine crawlers in turn"].values())
    by_length = results["hostile, by length of the URL"]
    assert all(row["200"] > 0 for row in by_length.values())
    assert results["5 names, a URL each"][PROTEGO]["times as long as ours"]["median"] > 0
    assert results["verdicts"][PROTEGO]["times as long as ours"]["median"] > 0
    assert "Protego" in capsys.readouterr().out


def test_hostile_rules_and_urls_are_made_for_each_other() -> None:
    """PAT-11: distinct rules, literals that are parts of the path, paths of the right length."""
    for recipe in RECIPES.values():
        rules = recipe.body(20_000, 300).splitlines()[1:-1]
        assert len(set(rules)) == len(rules) > 1
        path = recipe.path(300)
        assert len(path) == 300
        for rule in rules if recipe.parts else []:
            assert rule.decode().partition("*")[2].split("*")[0] in path
