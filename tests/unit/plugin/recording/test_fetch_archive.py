"""FetchArchive: which bodies are left out (SAF-06)."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.recorder import Recorder, RunWriter
from scrapy_robotspec.plugin.recording.fetch_archive import FetchArchive
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.support.evidence import START

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.1"


@pytest.mark.parametrize(
    ("addresses", "is_left_out"),
    [
        ([PUBLIC], False),
        ([PRIVATE], False),
        ([PUBLIC, PUBLIC], False),
        ([PUBLIC, PRIVATE], True),
        ([PUBLIC, PRIVATE, PUBLIC], False),
        ([PRIVATE, PRIVATE], False),
    ],
)
def test_a_name_that_leads_inside_is_known_by_its_address(
    tmp_path: Path, addresses: list[str], is_left_out: bool
) -> None:
    """The last response of the chain decides, which the file comes from."""
    recorder = Recorder(RunWriter(tmp_path, "run", {"time": 0.0}, {}))
    origin = Origin.of("http://public.example")
    assert origin is not None
    fetch = FetchArchive(recorder, Settings(), origin, START)
    for number, address in enumerate(addresses):
        url = f"http://{number}.example/robots.txt"
        response = Response(url, ip_address=ip_address(address))
        fetch.add_response(Exchange(url, 302), Request(url), response, START)
    assert fetch.is_left_out is is_left_out
    recorder.close()
