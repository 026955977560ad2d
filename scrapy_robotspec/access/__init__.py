"""Caching and availability: pure functions of (record, fetch result, now).

Nothing here reads a clock, fetches or stores.
"""
