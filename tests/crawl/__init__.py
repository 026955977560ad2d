"""Whole crawls against a local site: what a user sees, and what the site sees of it."""
