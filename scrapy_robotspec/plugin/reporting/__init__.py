"""Stats, log lines and the report of a crawl."""
