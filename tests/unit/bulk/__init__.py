"""Verdicts in bulk."""
