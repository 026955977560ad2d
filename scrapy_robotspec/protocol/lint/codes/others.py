"""RS4xx: sitemaps, crawl delays and licenses."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

CODES = (
    Code(
        code="RS401",
        name="sitemap-url",
        severity="error",
        message="The URL of a sitemap is not absolute, or is broken.",
        why="A sitemap line holds one absolute URL, with scheme and host.",
        remedy="Write the whole URL; write a line for each sitemap.",
        example="Sitemap: /sitemap.xml\n",
        better="Sitemap: https://example.com/sitemap.xml\n",
    ),
    Code(
        code="RS402",
        name="crawl-delay-value",
        severity="error",
        message="A crawl-delay is not a number of seconds.",
        why="Crawlers ignore any other value.",
        remedy="Write a decimal number, without a unit.",
        example="User-agent: *\nCrawl-delay: 5s\nDisallow: /private/\n",
        better="User-agent: *\nCrawl-delay: 5\nDisallow: /private/\n",
    ),
    Code(
        code="RS403",
        name="long-crawl-delay",
        severity="warning",
        message="A crawl-delay is longer than crawlers accept.",
        why="Bing documents 1 to 30 seconds, Majestic at most 30, Semrush at most 10. Crawlers "
        "shorten or ignore longer delays, and Google's ignore every crawl-delay. At 60 seconds, a "
        "crawler that obeys fetches 1,440 pages a day.",
        remedy="Write 30 or less. To keep a crawler out, disallow everything for it.",
        example="User-agent: *\nCrawl-delay: 600\nDisallow: /private/\n",
        better="User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n",
    ),
    Code(
        code="RS404",
        name="license-url",
        severity="error",
        message="The URL of a license is not absolute, or is broken.",
        why="A license line (RSL 1.0) holds one absolute URL, with scheme and host.",
        remedy="Write the whole URL.",
        example="License: /license.xml\n",
        better="License: https://example.com/license.xml\n",
    ),
)
