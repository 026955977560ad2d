"""Private hosts: addresses and names that are not public.

Only the spelling of a host is read. Names are not resolved, so a public name that resolves to a
private address is not detected.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network

#: All public IPv6 addresses are in here (RFC 4291).
_UNICAST_6 = IPv6Network("2000::/3")
#: IPv6 networks whose addresses hold an IPv4 address in their last four bytes.
_HOLD_IPV4 = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))

#: Ends of names that no public name server answers.
_PRIVATE_ENDS = (
    ".localhost",
    ".ip6-localhost",
    ".ip6-loopback",
    ".local",
    ".localdomain",
    ".localdomain4",
    ".localdomain6",
    ".internal",
    ".intranet",
    ".private",
    ".corp",
    ".home",
    ".home.arpa",
    ".lan",
)


def is_private(host: str) -> bool:
    """Whether *host* is a private name or address.

    Every spelling of an address counts that resolvers take for one (``127.1``, ``0x7f000001``).
    """
    if f".{host}".endswith(_PRIVATE_ENDS):
        return True
    try:
        if ":" in host:
            return _is_private_6(IPv6Address(host))
        return _is_private_4(IPv4Address(socket.inet_aton(host)))
    except (OSError, ValueError):  # a public name
        return False


def _is_private_4(address: IPv4Address) -> bool:
    return address.is_multicast or not address.is_global


def _is_private_6(address: IPv6Address) -> bool:
    inner = address.sixtofour
    if any(address in network for network in _HOLD_IPV4):
        inner = IPv4Address(address.packed[-4:])
    if inner is not None:
        return _is_private_4(inner)
    return address not in _UNICAST_6 or not address.is_global
