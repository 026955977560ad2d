"""Private hosts: loopback, link-local and other addresses that are not public.

Only the spelling of a host is read. Names are not resolved, so a public name that resolves to a
private address is not detected.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network

#: IPv6 networks whose addresses hold an IPv4 address in their last four bytes.
_HOLD_IPV4 = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


def is_private(host: str) -> bool:
    """Whether *host* is ``localhost`` or not a public address.

    Every spelling of an address counts that resolvers take for one (``127.1``, ``0x7f000001``).
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    if ":" in host:
        return _is_private_6(host)
    try:
        return _is_inward(IPv4Address(socket.inet_aton(host)))
    except (OSError, ValueError):
        return False


def is_address(host: str) -> bool:
    """Whether *host*, as an :class:`Origin` writes it, needs no name server."""
    if ":" in host or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        socket.inet_aton(host)
    except (OSError, ValueError):
        return False
    return True


def _is_private_6(host: str) -> bool:
    try:
        address = IPv6Address(host)
    except ValueError:
        return False
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and any(address in network for network in _HOLD_IPV4):
        inner = IPv4Address(address.packed[-4:])
    return _is_inward(address) if inner is None else _is_inward(inner)


def _is_inward(address: IPv4Address | IPv6Address) -> bool:
    return not address.is_global or address.is_multicast
