"""The hallway: origin in, and out comes what is known of it or how long to wait.

Only in this room do clock, stores and fetch meet; all of them are given, so that it needs neither
a reactor nor Scrapy. What an answer means is decided in ``access``, what a file says in
``protocol``, what happens to a request in ``plugin``.
"""

from scrapy_robotspec.lookup.answers import Known, Landing, Wait
from scrapy_robotspec.lookup.flights import Surroundings
from scrapy_robotspec.lookup.hall import Lookup
from scrapy_robotspec.lookup.places import FetchPlaces
from scrapy_robotspec.lookup.shelf import Shelf

__all__ = ["FetchPlaces", "Known", "Landing", "Lookup", "Shelf", "Surroundings", "Wait"]
