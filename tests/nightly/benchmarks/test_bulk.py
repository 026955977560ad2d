"""The benchmark of verdicts in bulk runs, and its check finds a wrong row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchmarks import bulk as benchmark
from benchmarks.corpus import make_corpus
from scrapy_robotspec import bulk


def test_a_quick_run_prints_the_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    """On made files; nothing about time is asserted."""
    assert benchmark.main(["--quick", "--names", "20"]) == 0
    printed = capsys.readouterr().out
    assert "times as fast as Protego in one process" in printed
    assert "one name, the verdict column, microseconds a file" in printed


def test_the_check_compares_rows_with_single_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """None differ; one that is changed is found."""
    files = make_corpus(5)
    names = benchmark.names_in(files, 8)
    assert benchmark.check(files, names, 500) == 0

    def wrong(batch: pa.RecordBatch, **questions: Any) -> pa.Table:
        rows = honest(batch, **questions).to_pylist()
        rows[3]["allowed"] = not rows[3]["allowed"]
        return pa.Table.from_pylist(rows)

    honest = bulk.verdicts
    monkeypatch.setattr(bulk, "verdicts", wrong)
    assert benchmark.check(files, names, 500) > 0
