"""The stores' benchmark runs; what it measures is for people to judge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_benchmark_runs_on_a_few_origins(tmp_path: Path) -> None:
    """Every store it measures keeps every record."""
    out = tmp_path / "out.json"
    subprocess.run(
        [
            sys.executable,
            ROOT / "benchmarks" / "stores.py",
            "memory://",
            f"sqlite:///{tmp_path}/robots.db",
            "--origins=300",
            f"--json={out}",
        ],
        check=True,
        capture_output=True,
    )
    measured = json.loads(out.read_text())
    assert [(each["store"], each["records"]) for each in measured] == [
        ("memory", 300),
        ("sqlite", 300),
    ]
