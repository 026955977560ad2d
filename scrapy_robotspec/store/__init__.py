"""Stores: records of origins, leases, and reserved page slots.

:func:`open_store` turns the value of ``ROBOTSPEC_CACHE`` into a store. Stores decide nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.store.uri import open_shared_store, open_store

if TYPE_CHECKING:
    from scrapy_robotspec.store.base import RecordStore as RecordStore

__all__ = ["open_shared_store", "open_store"]
