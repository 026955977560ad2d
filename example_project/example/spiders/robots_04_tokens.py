"""Idea 4: the token chooses the group. A setting, a function or the request itself names it."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from example.base import ExampleSpider
from example.responses import TOKEN_PAGES


class TokensSpider(ExampleSpider):
    """Asks for the same pages under three names: two by ``tokens.choose``, one by its meta."""

    name = "robots_04_tokens"
    cases = ("tokens",)
    #: What ``example.tokens.choose`` returns for this spider.
    robots_tokens = ("robotspec-example-news", "robotspec-example")

    async def start(self) -> AsyncIterator[Any]:
        """The pages once under the spider's own tokens, then under others, one at a time."""
        for front in self.front_pages():
            for path in TOKEN_PAGES:
                url = front.rstrip("/") + path
                yield self.page(url, cb_kwargs={"note": "by the hook"})
                for token in ("robotspec-example", "otherbot"):
                    yield self.page(
                        url,
                        meta={"robotspec_user_agent_token": token},
                        cb_kwargs={"note": f"as {token}"},
                        dont_filter=True,
                    )

    async def parse(self, response: Response, note: str) -> None:
        """The page alone: no link is followed."""
        await self.crawled(response, note)
