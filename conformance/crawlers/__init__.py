"""Crawlers of other projects, on loopback sites that log their requests."""
