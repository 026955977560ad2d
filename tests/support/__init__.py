"""Servers that misbehave on request, and real crawls against them.

``answers`` says what an origin may send, ``server`` sends it and keeps a log, ``crawl`` starts
Scrapy in a process of its own, ``spiders``, ``notes`` and ``settings`` live in that process.
No expectation about robots.txt belongs here.
"""
