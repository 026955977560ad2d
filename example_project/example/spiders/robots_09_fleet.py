"""Idea 9: several processes crawl as one. ``fleet.py`` gives them one queue and one store."""

from example.base import ExampleSpider
from example.responses_fleet import MOODS


class FleetSpider(ExampleSpider):
    """Crawls forty origins, alone or as one of several workers on scrapy-redis."""

    name = "robots_09_fleet"
    site = "example.responses_fleet:MOODS"
    cases = tuple(MOODS)
