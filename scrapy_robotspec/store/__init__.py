"""Where records rest, keyed by origin. Stores decide nothing.

:func:`open_store` turns the value of ``ROBOTSPEC_CACHE`` into a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.store.opening import open_store

if TYPE_CHECKING:
    from scrapy_robotspec.store.base import RecordStore as RecordStore

__all__ = ["open_store"]
