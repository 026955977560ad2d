"""The soak test runs; twenty minutes of it are for people."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import soak


def test_a_few_seconds_of_it(tmp_path: Path) -> None:
    """No request is lost, nothing disallowed is asked for, and there are samples to look at."""
    out = tmp_path / "soak"
    soak.main(
        ["--minutes=0.07", "--origins=60", "--at-once=60", "--period=1", "--quiet", f"--out={out}"]
    )
    found = json.loads(out.with_suffix(".json").read_text())
    assert found["sent"] == found["ended"] >= 60
    assert (found["disallowed"], found["errors_logged"], found["exit_code"]) == (0, 0, 0)
    assert len(found["samples"]) >= 2
    assert all(sample["memory"] > 1_000_000 for sample in found["samples"])


def test_growth_is_noticed() -> None:
    """Otherwise flat lines would prove nothing."""
    flat = [{"memory": 100e6, "open_files": 500}] * 8
    assert soak.grown(flat) == []
    rising = [{"memory": 100e6 * (1 + n / 10), "open_files": 500 * n} for n in range(8)]
    assert [line.partition(":")[0] for line in soak.grown(rising)] == ["memory", "open_files"]
