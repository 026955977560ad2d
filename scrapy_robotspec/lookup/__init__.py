"""The hallway: origin in, and out comes what is known of it or how long to wait.

Only in this room do clock, stores and fetch meet; all of them are given, so that it needs neither
a reactor nor Scrapy. What an answer means is decided in ``access``, what a file says in
``protocol``, what happens to a request in ``plugin``.
"""

from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.lookup import Lookup
from scrapy_robotspec.lookup.results import FetchDone, Pending, Resolved
from scrapy_robotspec.lookup.single_flight import Runtime
from scrapy_robotspec.lookup.tiered_store import TieredStore

__all__ = ["FetchDone", "FetchLimiter", "Lookup", "Pending", "Resolved", "Runtime", "TieredStore"]
