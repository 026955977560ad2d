"""The token chooses the group: a setting, a function or the request itself names it."""

import scrapy


class TokensSpider(scrapy.Spider):
    """Requests the same pages by its own tokens, and by two others that the request names."""

    name = "robots_04_tokens"
    start_urls = ["http://127.0.0.1:8411/"]
    #: The function of ``ROBOTSPEC_USER_AGENT_TOKEN``, example/tokens.py, returns them.
    robots_tokens = ["robotspec-example-news", "robotspec-example"]

    async def start(self):
        for front in self.start_urls:
            for path in ("", "news/today.html", "private/a.html"):
                yield scrapy.Request(front + path)
                for token in ("robotspec-example", "otherbot"):
                    meta = {"robotspec_user_agent_token": token}
                    yield scrapy.Request(front + path, meta=meta, dont_filter=True)

    def parse(self, response):
        yield {"url": response.url, "group": response.meta["robotspec"]["group"]}
