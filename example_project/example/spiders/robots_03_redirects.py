"""Five redirects are followed, and the rules found apply to the origin first asked."""

import scrapy
from scrapy.http import TextResponse


class RedirectsSpider(scrapy.Spider):
    """Says for each page which robots.txt decided, and with which rule."""

    name = "robots_03_redirects"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8407/"]

    def parse(self, response):
        reason = response.meta["robotspec"]
        yield {"url": response.url, "outcome": reason["outcome"], "rule": reason["pattern"]}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
