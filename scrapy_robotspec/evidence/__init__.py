"""Evidence: a record of a crawl that can be checked later.

An archive of each robots.txt as received (WARC), a log of each decision, a replay that makes the
decisions again from both, and an audit of any access log against the archived rules.
"""
