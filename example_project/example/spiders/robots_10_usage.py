"""Idea 10: a page that a search may show may still be closed to the training of models."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from example.base import ExampleSpider
from scrapy_robotspec import Usage


class UsageSpider(ExampleSpider):
    """Keeps pages for a search, and for training only if nothing disallows that.

    The preferences are recorded; ``ROBOTSPEC_USAGE_POLICY`` would refuse pages by them.
    """

    name = "robots_10_usage"
    cases = ("usage",)
    custom_settings = {"ROBOTSPEC_USAGE": ["search", "train-ai"]}

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """An item for each page that a search may show, with the reason for its uses."""
        usage = response.meta["robotspec"].get("usage", Usage())
        training = usage.preferences.get("train-ai") != "disallow"
        if usage.preferences.get("search") == "disallow":
            note = "dropped"
        else:
            note = "for search and training" if training else "for search only"
            reason = f"{because(usage, 'search')}; {because(usage, 'train-ai')}"
            yield {"url": response.url, "training": training, "reason": reason}
        await self.crawled(response, note)
        for request in self.links(response):
            yield request


def because(usage: Usage, label: str) -> str:
    """What is stated about a label, and where."""
    preference = usage.preferences.get(label)
    if preference is None:
        return f"{label} is unknown"
    places = [
        "the header" if statement.line is None else f"line {statement.line}"
        for statement in usage.statements
        if statement.preferences.get(label) == preference
    ]
    return f"{label} is {preference}ed by {' and '.join(places)}"
