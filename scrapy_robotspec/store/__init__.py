"""Stores: records of origins, leases, and reserved page slots.

``uri.py`` turns the value of ``ROBOTSPEC_CACHE`` into a store. Stores decide nothing.
"""

from __future__ import annotations

#: The value of ``ROBOTSPEC_CACHE`` by default.
MEMORY = "memory://"


def shown_uri(uri: str) -> str:
    """*uri* for a log line, without user name and password."""
    scheme, slashes, rest = uri.partition("://")
    if scheme == "sqlite" or "@" not in rest:
        return uri
    return f"{scheme}{slashes}…@{rest.rpartition('@')[2]}"
