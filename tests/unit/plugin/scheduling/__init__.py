"""The gate and the queues, without a crawl."""
