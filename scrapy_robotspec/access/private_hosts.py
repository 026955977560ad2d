"""Private hosts: addresses and names that are not public.

The networks are listed here, after IANA's registries of special-purpose addresses: Python's
``ipaddress`` knows others in each release. Only the spelling of a host is read. Names are not
resolved, so a public name that resolves to a private address is not detected.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_PRIVATE_4 = tuple(
    map(
        IPv4Network,
        [
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ],
    )
)
_PRIVATE_6 = tuple(
    map(
        IPv6Network,
        [
            "::/8",  # unspecified, loopback, translated and local-use (64:ff9b:1::/48)
            "100::/8",  # discard
            "2001::/23",  # protocol assignments
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation
            "5f00::/16",  # segment routing
            "fc00::/7",  # unique local
            "fe80::/10",  # link-local
            "fec0::/10",  # site-local
            "ff00::/8",  # multicast
        ],
    )
)
#: IPv6 networks whose addresses hold an IPv4 address in their last four bytes.
_HOLD_IPV4 = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))

#: Names, and ends of names, that no public name server answers.
_PRIVATE_NAMES = (
    "localhost",
    "ip6-localhost",
    "ip6-loopback",
    "local",
    "localdomain",
    "localdomain4",
    "localdomain6",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "home.arpa",
    "lan",
)


def is_private(host: str) -> bool:
    """Whether *host* is a private name or address.

    Every spelling of an address counts that resolvers take for one (``127.1``, ``0x7f000001``).
    """
    if host in _PRIVATE_NAMES or host.endswith(tuple(f".{name}" for name in _PRIVATE_NAMES)):
        return True
    if ":" in host:
        return _is_private_6(host)
    address = _ipv4(host)
    return address is not None and _is_private_4(address)


def _ipv4(host: str) -> IPv4Address | None:
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_private_4(address: IPv4Address) -> bool:
    return any(address in network for network in _PRIVATE_4)


def _is_private_6(host: str) -> bool:
    try:
        address = IPv6Address(host)
    except ValueError:
        return False
    inner = address.sixtofour
    if any(address in network for network in _HOLD_IPV4):
        inner = IPv4Address(address.packed[-4:])
    if inner is not None:
        return _is_private_4(inner)
    return any(address in network for network in _PRIVATE_6)
