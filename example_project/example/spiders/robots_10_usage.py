"""A page that a search may show may still be closed to the training of models."""

import scrapy
from scrapy.http import TextResponse

from scrapy_robotspec import Usage


class UsageSpider(scrapy.Spider):
    """Keeps pages for a search, and for training only if nothing disallows that.

    The preferences are recorded; ``ROBOTSPEC_USAGE_POLICY`` would refuse pages by them.
    """

    name = "robots_10_usage"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:8414/"]
    custom_settings = {"ROBOTSPEC_USAGE": ["search", "train-ai"]}

    def parse(self, response):
        usage = response.meta["robotspec"].get("usage", Usage())
        if usage.preferences.get("search") != "disallow":
            training = usage.preferences.get("train-ai") != "disallow"
            stated = [f"{each.source}: {each.value}" for each in usage.statements]
            yield {"url": response.url, "training": training, "because": stated}
        if isinstance(response, TextResponse):  # no image has links
            yield from response.follow_all(css="a")
