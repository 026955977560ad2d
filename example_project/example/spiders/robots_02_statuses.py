"""The status decides first: 4xx allows all; 5xx, or a broken connection, nothing."""

import scrapy
from scrapy.http import TextResponse

from scrapy_robotspec import ForbiddenByRobots, RobotsUnreachable


class StatusesSpider(scrapy.Spider):
    """Keeps the URLs of sites that did not respond, for a later crawl."""

    name = "robots_02_statuses"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8402/"]
    #: An example should not wait for minutes until it gives up what is unreachable.
    custom_settings = {
        "ROBOTSPEC_HOLD_TIMEOUT": 1.5,
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.5,
    }

    async def start(self):
        for url in self.start_urls:
            yield scrapy.Request(url, errback=self.refused)

    def parse(self, response):
        yield {"url": response.url, "status": response.meta["robotspec"]["status"]}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a", errback=self.refused)

    def refused(self, failure):
        failure.trap(RobotsUnreachable, ForbiddenByRobots)  # errors of the page are logged
        if failure.check(RobotsUnreachable):
            yield {"url": failure.request.url, "later": failure.value.detail}
