"""The plugin room: the only one that imports Scrapy."""
