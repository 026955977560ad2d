"""Follows the links of the first page with Crawlee for Python."""

import asyncio
import sys

from crawlee.crawlers import BeautifulSoupCrawler


async def main():
    """Crawl with robots.txt obeyed."""
    crawler = BeautifulSoupCrawler(respect_robots_txt_file=True, max_request_retries=0)

    @crawler.router.default_handler
    async def follow(context):
        await context.enqueue_links()

    await crawler.run([sys.argv[1]])


asyncio.run(main())
