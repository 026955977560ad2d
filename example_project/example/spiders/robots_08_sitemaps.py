"""A spider can begin with the sitemaps that a robots.txt names, and follow no link."""

from scrapy_robotspec import SitemapsFromRobots


class SitemapsSpider(SitemapsFromRobots):
    """Crawls the pages of a sitemap; the rules apply to the sitemap and to each page."""

    name = "robots_08_sitemaps"
    sitemap_origins = ["http://127.0.0.1:8413/"]

    def parse(self, response):
        yield {"url": response.url}
