"""A page in a browser leads on by itself, and robots.txt applies to that, too."""

import scrapy

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


class BrowserSpider(scrapy.Spider):
    """Opens pages in Chromium: one redirects, and a script in another one moves on.

    Both lead to a page that robots.txt disallows. The browser does not request it, and the request
    that led there ends with ``ForbiddenByRobots``.
    """

    name = "robots_12_browser"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8415/"]
    custom_settings = {
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    }

    async def start(self):
        from scrapy_playwright.page import PageMethod  # the other spiders run without it

        self.meta = {
            "playwright": True,
            "playwright_page_methods": [PageMethod("wait_for_timeout", 500)],
        }
        for url in self.start_urls:
            yield scrapy.Request(url, meta=self.meta)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a", meta=self.meta)
