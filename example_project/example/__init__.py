"""A small Scrapy project that obeys robots.txt: settings, spiders, and a local site to crawl."""
