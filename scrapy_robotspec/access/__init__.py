"""May we rely on what we hold about an origin? Pure functions of (record, attempt, now).

HTTP's words are known here; no clock is read, nothing is fetched and nothing is stored.
"""
