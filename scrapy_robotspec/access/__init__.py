"""What a stored robots.txt is worth now. Pure functions of (record, fetch result, now).


HTTP's words are known here; no clock is read, nothing is fetched and nothing is stored.
"""
