"""From an origin to its rules, or to a wait.

Clock, stores and fetches meet only here. All of them are arguments: the package needs neither a
reactor nor Scrapy.
"""

from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.lookup import Lookup
from scrapy_robotspec.lookup.rules_cache import Pending, Resolved
from scrapy_robotspec.lookup.single_flight import FetchDone, Runtime

__all__ = ["FetchDone", "FetchLimiter", "Lookup", "Pending", "Resolved", "Runtime"]
