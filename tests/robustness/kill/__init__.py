"""Crawls that are killed at any moment, and what the next one finds."""
