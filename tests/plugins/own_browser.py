"""A download handler of a project's own, made of scrapy-playwright's."""

from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler


class Own(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc,unused-ignore]
    """In this module a crawl finds it by its path."""
