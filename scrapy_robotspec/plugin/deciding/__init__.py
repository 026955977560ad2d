"""From a request and its robots.txt to a decision."""
