"""Which hosts a public one has no reason to send us to."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.private_hosts import is_private

PRIVATE = [
    *["localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001"],
    *["0x7f.1", "0177.0.0.1", "0", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"],
    *["169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "[::1]"],
    *["[::]", "[fe80::1]", "[fc00::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"],
    *["[2002:7f00:1::]", "[ff02::1]", "[::ffff:a9fe:a9fe]", "１２７.0.0.1", "203.0.113.9"],
    *["[fec0::1]", "[64:ff9b:1::1]", "[5f00::1]", "[2001::1]", "[2001:db8::1]", "[100::1]"],
    *["[::ffff:0:10.0.0.1]", "ip6-localhost", "router.local", "a.localdomain"],
    *["metadata.google.internal", "printer.home.arpa", "nas.lan", "wiki.corp"],
]

PUBLIC = [
    *["example.com", "localhost.example.com", "notlocalhost", "8.8.8.8", "134744072", "172.32.0.1"],
    *["192.169.0.1", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]"],
    *["[2002:808:808::]", "127.0.0.1.example.com", "1.2.3.4.5", "256.256.256.256.256"],
    *["xn--mller-kva.eu", "local.example.com", "mylocal", "192.88.98.1", "[2001:4860:4860::8888]"],
]


def host_of(written: str) -> str:
    """The host as an origin writes it, which is what is asked about."""
    origin = Origin.of(f"http://{written}/robots.txt")
    assert origin is not None
    return origin.host


@pytest.mark.parametrize("written", PRIVATE)
def test_private(written: str) -> None:
    """Every spelling that a resolver takes for such an address."""
    assert is_private(host_of(written))


@pytest.mark.parametrize("written", PUBLIC)
def test_public(written: str) -> None:
    assert not is_private(host_of(written))


@given(st.integers(0, 2**32 - 1))
def test_no_address_that_python_calls_private_is_public(number: int) -> None:
    """Python's own properties decide, also about an address inside another one."""
    address = IPv4Address(number)
    if address.is_private or address.is_multicast or address.is_reserved:
        assert is_private(str(address))
    assert is_private(f"::ffff:{address}") is is_private(str(address))


@given(st.text(max_size=20))
def test_no_host_makes_it_raise(host: str) -> None:
    """SAF-01: a Location is a stranger's text."""
    assert is_private(host) in (True, False)
