"""The benchmark of a crawl of many origins runs; people judge what it measures."""

from __future__ import annotations

import subprocess
import sys
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.many_origins import host_of

ROOT = Path(__file__).parents[3]


def test_both_sides_request_every_page() -> None:
    """A side that lacks one ends with an error."""
    command = [sys.executable, str(ROOT / "benchmarks" / "many_origins.py")]
    options = ["--origins=200", "--rounds=1"]
    out = subprocess.run([*command, *options], check=True, capture_output=True, text=True).stdout
    title, *lines = out.splitlines()
    assert title.split()[:2] == ["200", "origins"]
    names = [line[:17].strip() for line in lines]
    assert names == ["Scrapy's own", "this package"]
    for line in lines:
        taken, ratio, held = line[17:].replace(",", "").split()
        assert float(taken) > 0
        assert 0.1 < float(ratio) < 10
        float(held)  # of so few origins mostly chance


def test_each_origin_has_an_address_of_its_own() -> None:
    hosts = {IPv4Address(host_of(number)) for number in range(200_000)}
    assert len(hosts) == 200_000
