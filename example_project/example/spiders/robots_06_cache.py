"""A robots.txt is good for a day; with a file as store, for the next crawl as well."""

import scrapy
from scrapy.http import TextResponse


class CacheSpider(scrapy.Spider):
    """Run it twice: the second crawl asks no origin for its robots.txt."""

    name = "robots_06_cache"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8401/"]
    custom_settings = {"ROBOTSPEC_CACHE": "sqlite:///robots-cache.db"}

    def parse(self, response):
        yield {"url": response.url, "age": response.meta["robotspec"]["age"]}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
