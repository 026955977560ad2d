"""Hypothesis without a stopwatch: a slow machine is no finding."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
