"""Whole crawls against servers that misbehave, and what holds after each."""
