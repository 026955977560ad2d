"""The stores' benchmark runs; what it measures is for people to judge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[3]


def measure(out: Path, *uris: str) -> list[dict[str, Any]]:
    """The benchmark's output for 300 origins in each store."""
    command = [sys.executable, str(ROOT / "benchmarks" / "stores.py"), *uris]
    options = ["--origins=300", f"--json={out}"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return list(json.loads(out.read_text()))


def test_the_benchmark_runs_on_a_few_origins(tmp_path: Path) -> None:
    """Every store it measures keeps every record."""
    measured = measure(tmp_path / "out.json", "memory://", f"sqlite:///{tmp_path}/robots.db")
    assert [(each["store"], each["origins"]) for each in measured] == [
        ("memory", 300),
        ("sqlite", 300),
    ]


def test_the_memory_of_redis_is_measured_before_the_records_are_deleted(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    """A record without a body takes more than 100 bytes."""
    (measured,) = measure(tmp_path / "out.json", redis_server.uri)
    assert measured["origins"] == 300
    assert measured["server_bytes_an_origin"] > 100
