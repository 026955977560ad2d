"""Two settings are enough: the rules decide, wildcards and longest match included."""

import scrapy
from scrapy.http import TextResponse

from scrapy_robotspec import ForbiddenByRobots, RobotsUnreachable


class ObeySpider(scrapy.Spider):
    """Follows all links; the errback of a refused page says which line refused it."""

    name = "robots_01_obey"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8401/"]

    async def start(self):
        for url in self.start_urls:
            yield scrapy.Request(url, errback=self.refused)

    def parse(self, response):
        yield {"url": response.url}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a", errback=self.refused)

    def refused(self, failure):
        failure.trap(ForbiddenByRobots, RobotsUnreachable)  # errors of the page are logged
        self.logger.info("%s: %s", failure.request.url, failure.value)
