"""503 means "not now": its pages wait in the scheduler, and all others go on."""

import scrapy
from scrapy.http import TextResponse


class WaitingSpider(scrapy.Spider):
    """Crawls a site that answers 503 for three seconds, and two others."""

    name = "robots_05_waiting"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8412/", "http://127.0.0.1:8401/"]
    #: For the demonstration: the default waits longer between attempts.
    custom_settings = {"ROBOTSPEC_RETRY_MAX_DELAY": 1}

    def parse(self, response):
        yield {"url": response.url}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
