"""Renders explanations of robots.txt files as text, JSON and HTML.

Used by the command line, by ``scrapy robotspec`` and by the crawl's reports.
"""
