"""Fuzzers of what strangers send and stores hold; see README.md."""
