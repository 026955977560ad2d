"""FetchArchive: how requests and responses are archived, and which bodies not (SAF-06)."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from warcio.archiveiterator import ArchiveIterator

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.recorder import Recorder, RunWriter
from scrapy_robotspec.plugin.recording.fetch_archive import FetchArchive
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.support.evidence import START

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.1"
URL = "http://public.example/robots.txt"


def archive_in(folder: Path, site: str = "http://public.example", **settings: Any) -> FetchArchive:
    recorder = Recorder(RunWriter(folder, "run", {"time": 0.0}, {}))
    origin = Origin.of(site)
    assert origin is not None
    return FetchArchive(recorder, Settings(**settings), origin, START)


def records_of(fetch: FetchArchive, folder: Path) -> Iterator[Any]:
    """The records behind the first, read by a library of others."""
    fetch.recorder.close()
    with next(folder.glob("robots-*")).open("rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            if record.rec_type != "warcinfo":
                yield record, record.raw_stream.read()


def archived(
    folder: Path,
    exchange: Exchange,
    request: Request | None = None,
    response: Response | None = None,
    **settings: Any,
) -> tuple[Any, bytes, bytes]:
    """The record of a response, its block, and that of its request."""
    fetch = archive_in(folder, **settings)
    answer = Response(exchange.url) if response is None else response
    fetch.add_response(exchange, request or Request(exchange.url), answer, START + 1)
    (record, block), *others = records_of(fetch, folder)
    return record.rec_headers, block, others[0][1] if others else b""


@pytest.mark.parametrize("address", [PUBLIC, None])
def test_a_response_has_the_address_that_gave_it(tmp_path: Path, address: str | None) -> None:
    """None behind a proxy, and of some download handlers."""
    response = Response(URL, ip_address=None if address is None else ip_address(address))
    fields, _, _ = archived(tmp_path, Exchange(URL, 200), response=response)
    assert fields.get_header("WARC-IP-Address") == address


@pytest.mark.parametrize(
    ("exchange", "size", "reason"),
    [
        (Exchange(URL, 200, body=b"all"), 3, None),
        (Exchange(URL, 200, body=b"a" * (2**20 + 3)), 3, None),
        (Exchange(URL, 200, body=b"a" * (2**20 + 4)), 3, "length"),
        (Exchange(URL, 200, body=b"part", stopped=True), 3, "length"),
        (Exchange(URL, 200, body=b"part", incomplete=True), 3, "disconnect"),
        (Exchange(URL, 200, body=b"part", stopped=True, incomplete=True), 3, "length"),
    ],
    ids=["whole", "longest", "longer", "stopped", "lost", "both"],
)
def test_a_body_that_is_not_whole_says_why(
    tmp_path: Path, exchange: Exchange, size: int, reason: str | None
) -> None:
    """FMT-12, FET-14."""
    fields, block, _ = archived(tmp_path, exchange, max_size=size)
    assert fields.get_header("WARC-Truncated") == reason
    assert block.partition(b"\r\n\r\n")[2] == exchange.body[: size + 2**20]


@pytest.mark.parametrize(
    ("url", "kind", "status"),
    [(URL, "response", None), ("ftp://public.example/robots.txt", "resource", "200")],
)
def test_a_file_of_ftp_is_a_resource_with_a_status(
    tmp_path: Path, url: str, kind: str, status: str | None
) -> None:
    fields, _, request = archived(tmp_path, Exchange(url, 200, body=b"file"))
    assert fields.get_header("WARC-Type") == kind
    assert fields.get_header("Robotspec-Status") == status
    assert bool(request) is (kind == "response")


@pytest.mark.parametrize(("protocol", "first"), [(None, "HTTP/1.1"), ("HTTP/1.0", "HTTP/1.0")])
def test_a_response_begins_with_its_protocol(
    tmp_path: Path, protocol: str | None, first: str
) -> None:
    response = Response(URL, protocol=protocol)
    _, block, _ = archived(tmp_path, Exchange(URL, 200), response=response)
    assert block.startswith(f"{first} 200 OK\r\n".encode())


@pytest.mark.parametrize("host", [None, "other.example"])
def test_a_request_has_one_host_and_no_secret(tmp_path: Path, host: str | None) -> None:
    """SAF-06: values of headers that neither we nor the user name are blanked."""
    headers = {"User-Agent": "examplebot", "Cookie": "secret", "X-Mine": ["1", "2"]}
    request = Request(URL, headers=headers | ({} if host is None else {"Host": host}))
    _, _, block = archived(tmp_path, Exchange(URL, 200), request, evidence_headers=("x-mine",))
    first, *lines = block.decode().rstrip().split("\r\n")
    assert first == "GET /robots.txt HTTP/1.1"
    assert sorted(lines) == [
        "Cookie: blanked",
        f"Host: {host or 'public.example'}",
        "User-Agent: examplebot",
        "X-Mine: 1",
        "X-Mine: 2",
    ]


def test_what_a_public_host_leads_to_inside_is_left_out_of_its_record(tmp_path: Path) -> None:
    fetch = archive_in(tmp_path)
    for address, body in ((PUBLIC, b"first"), (PRIVATE, b"internal")):
        response = Response(URL, ip_address=ip_address(address))
        exchange = Exchange(URL, 200, body=body, stopped=True)
        fetch.add_response(exchange, Request(URL), response, START)
    found = [
        (record.rec_headers.get_header("Robotspec-Left-Out-Length"), block)
        for record, block in records_of(fetch, tmp_path)
        if record.rec_type == "response"
    ]
    assert [length for length, _ in found] == [None, "8"]
    assert [block.partition(b"\r\n\r\n")[2] for _, block in found] == [b"first", b""]


@pytest.mark.parametrize(
    ("site", "meta", "is_left_out"),
    [
        ("http://public.example", {}, True),
        ("http://public.example", {"proxy": "http://10.0.0.9"}, False),
        ("http://10.0.0.2", {}, False),
    ],
)
def test_the_address_of_a_proxy_and_that_of_a_private_site_leave_nothing_out(
    tmp_path: Path, site: str, meta: dict[str, str], is_left_out: bool
) -> None:
    fetch = archive_in(tmp_path, site)
    for address in (PUBLIC, PRIVATE):
        response = Response(URL, ip_address=ip_address(address))
        fetch.add_response(Exchange(URL, 302), Request(URL, meta=meta), response, START)
    assert fetch.is_left_out is is_left_out
    fetch.recorder.close()


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
    fetch = archive_in(tmp_path)
    for number, address in enumerate(addresses):
        url = f"http://{number}.example/robots.txt"
        response = Response(url, ip_address=ip_address(address))
        fetch.add_response(Exchange(url, 302), Request(url), response, START)
    assert fetch.is_left_out is is_left_out
    fetch.recorder.close()
