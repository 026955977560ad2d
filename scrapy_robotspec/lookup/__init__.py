"""From an origin to its rules, or to a wait.

Clock, stores and fetches meet only here. All of them are arguments: the package needs neither a
reactor nor Scrapy.
"""

from scrapy_robotspec.access.resolved import Resolved
from scrapy_robotspec.lookup.lookup import FetchDone, Lookup
from scrapy_robotspec.lookup.rules_cache import Pending

__all__ = ["FetchDone", "Lookup", "Pending", "Resolved"]
