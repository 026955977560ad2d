"""Spiders for plugins that need items, links, page objects or a queue in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import Any

from scrapy import Request
from scrapy.http import Response

from tests.support.spiders import Noting, Plain


class WithItems(Plain):
    """Requests the job's ``start`` page, from there all other pages, and gives an item for each."""

    name = "with_items"

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.job["start"], self.follow)

    def follow(self, response: Response) -> Any:
        for entry in self.job["requests"]:
            yield Request(entry, callback=self.got, errback=self.failed)

    def got(self, response: Response) -> Any:
        super().got(response)
        return [{"url": response.url}]


if find_spec("scrapy_redis"):
    from scrapy_redis.spiders import RedisMixin

    class FromRedis(RedisMixin, Noting):
        """Takes its URLs from a list in Redis, and stays for a moment when that is empty."""

        name = "from_redis"
        redis_key = "urls"
        max_idle_time = 2

        @classmethod
        def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> FromRedis:
            spider: FromRedis = super().from_crawler(crawler, *args, **kwargs)
            spider.setup_redis(crawler)
            return spider

        def make_request_from_data(self, data: bytes) -> Request:
            return self.request(data.decode())


if find_spec("scrapy_poet"):
    import web_poet

    class Page(web_poet.WebPage):
        """A page object that downloads another page for its item."""

        http: web_poet.HttpClient

        def __init__(self, response: web_poet.HttpResponse, http: web_poet.HttpClient) -> None:
            super().__init__(response)
            self.http = http

        async def download(self, url: str) -> str:
            """The status of *url*, or the name of the error."""
            try:
                return str((await self.http.get(url)).status)
            except web_poet.exceptions.HttpError as error:
                return type(error).__name__

    class WithPageObjects(Plain):
        """Downloads the job's ``inner`` URLs in a page object; plain pages need none."""

        name = "with_page_objects"

        def request(self, entry: str | dict[str, Any]) -> Request:
            assert isinstance(entry, str)
            return Request(entry, callback=self.got_page, errback=self.failed)

        async def got_page(self, response: Response, page: Page) -> None:
            inner = {url: await page.download(url) for url in self.job.get("inner", ())}
            self.note("inner", inner=inner)
            self.got(response)
