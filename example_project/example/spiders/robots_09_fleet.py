"""Several processes crawl as one: ``fleet.py`` gives them one queue and one store."""

import scrapy
from scrapy.http import TextResponse


class FleetSpider(scrapy.Spider):
    """Crawls forty origins, alone or as one of several workers on scrapy-redis."""

    name = "robots_09_fleet"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8401/"]

    async def start(self):
        for url in self.start_urls:  # once for all workers: their duplicate filter is shared
            yield scrapy.Request(url)

    def parse(self, response):
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
