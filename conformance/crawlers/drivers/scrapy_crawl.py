"""Follows the links of the first page with Scrapy alone."""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Pages(scrapy.Spider):
    """Two levels of pages."""

    name = "pages"
    start_urls = (sys.argv[1],)

    def parse(self, response):
        """Follow all links."""
        yield from response.follow_all(css="a")


process = CrawlerProcess({"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 0, "RETRY_TIMES": 1})
process.crawl(Pages)
process.start()
