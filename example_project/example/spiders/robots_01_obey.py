"""Idea 1: two settings are enough. The rules decide, wildcards and longest match included."""

from example.base import ExampleSpider


class ObeySpider(ExampleSpider):
    """Follows all links of an origin; the plugin refuses what its robots.txt disallows."""

    name = "robots_01_obey"
    cases = ("plain", "closed")
