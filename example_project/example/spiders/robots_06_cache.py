"""A robots.txt is good for a day; with a file as store, for the next crawl as well."""

import scrapy


class CacheSpider(scrapy.Spider):
    """Run it twice: the second crawl asks no origin for its robots.txt."""

    name = "robots_06_cache"
    start_urls = ["http://127.0.0.1:8401/"]
    custom_settings = {"ROBOTSPEC_CACHE": "sqlite:///robots-cache.db"}

    def parse(self, response):
        yield {"url": response.url, "age": response.meta["robotspec"]["age"]}
        yield from response.follow_all(css="a")
