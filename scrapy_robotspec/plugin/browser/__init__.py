"""Checks of the requests that a browser of scrapy-playwright makes."""
