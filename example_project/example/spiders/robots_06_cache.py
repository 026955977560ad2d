"""Idea 6: a robots.txt is good for a day. With a file as store, for the next crawl as well."""

from example.base import ExampleSpider


class CacheSpider(ExampleSpider):
    """Run it twice: the second crawl asks no origin for its robots.txt."""

    name = "robots_06_cache"
    cases = ("plain", "hops")
    custom_settings = {"ROBOTSPEC_CACHE": "sqlite:///robots-cache.db"}
