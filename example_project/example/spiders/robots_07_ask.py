"""A spider can ask first: for a decision, the sitemaps and the crawl delay."""

import scrapy

from scrapy_robotspec import RobotSpecMiddleware


class AskSpider(scrapy.Spider):
    """Asks about each page, and requests those that are allowed."""

    name = "robots_07_ask"
    start_urls = ["http://127.0.0.1:8401/"]
    paths = ("", "open.html", "private/a.html", "private/press/today.html", "paper.pdf")

    async def start(self):
        robots = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        for front in self.start_urls:
            self.logger.info("sitemaps: %s", await robots.sitemaps(front))
            self.logger.info("crawl delay: %s", await robots.crawl_delay(front))
            for path in self.paths:
                decision = await robots.decision(front + path)
                if decision.allowed:
                    yield scrapy.Request(front + path)
                else:
                    self.logger.info("not requested: %s%s: %s", front, path, decision.detail)

    def parse(self, response):
        yield {"url": response.url}
