"""The examples for distributed engines, run where the engine is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import run
from scrapy_robotspec import bulk

ROOT = Path(run.__file__).parent
EXAMPLES = {"on_dask": "distributed", "on_spark": "pyspark", "on_ray": "ray"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_cluster_gives_the_rows_of_one_process(name: str, tmp_path: Path) -> None:
    """Bit for bit, in the order of the input; several batches go to several processes."""
    if find_spec(EXAMPLES[name]) is None:
        pytest.skip(f"{EXAMPLES[name]} is not installed: tox -e engines runs this")
    if name == "on_spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    files = pa.table(
        {
            "url": [f"https://{n}.example/robots.txt" for n in range(2500)],
            "body": [
                b"User-agent: GPTBot\nDisallow: /%d\nSitemap: /x" % (n % 9) for n in range(2500)
            ],
            "status": [(200, 404, 503)[n % 3] for n in range(2500)],
        }
    )
    source, target = tmp_path / "files.parquet", tmp_path / "verdicts.parquet"
    pq.write_table(files, source)
    script = ROOT / "example_project/engines" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, str(script), str(source), str(target)],
        cwd=ROOT,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    expected = bulk.verdicts(files, tokens=["GPTBot", "CCBot", "Googlebot"], paths=["/news/"])
    assert pq.read_table(target).cast(bulk.SCHEMA).equals(expected)
