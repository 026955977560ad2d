"""Fetch a robots.txt through Scrapy's downloader."""
