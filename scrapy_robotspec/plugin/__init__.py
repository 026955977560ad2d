"""The Scrapy plugin: the only package that imports Scrapy."""
