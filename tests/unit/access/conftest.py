"""Hypothesis without a deadline: a slow machine is not a failure."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
