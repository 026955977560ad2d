"""Caching and availability: pure functions of (record, fetch result, now).

Pure functions of (record, fetch result, now): nothing here reads a clock, fetches or stores.
"""
