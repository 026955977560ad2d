"""What a crawl was allowed and refused can be proved later, from files alone."""

import scrapy
from scrapy.http import TextResponse


class EvidenceSpider(scrapy.Spider):
    """Writes each robots.txt and each decision to the folder ``evidence``.

    ``robotspec replay evidence`` makes the decisions again.
    """

    name = "robots_11_evidence"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8401/"]
    #: The folder is what you need; an example should not wait for minutes as the defaults do.
    custom_settings = {
        "ROBOTSPEC_EVIDENCE": "evidence",
        "ROBOTSPEC_HOLD_TIMEOUT": 1.5,
        "ROBOTSPEC_RETRY_DELAY": 0.5,
    }

    def parse(self, response):
        yield {"url": response.url}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
