"""Turns Scrapy's requests and responses, and decisions about them, into evidence."""
