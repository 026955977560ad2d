"""What the stored robots.txt of an origin is worth now, and what a fetch makes of it.

Pure functions of (record, fetch result, now): nothing here reads a clock, fetches or stores.
"""
