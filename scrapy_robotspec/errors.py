"""The errors this package raises, split by whose fault they are.

A bad robots.txt is never an error. Refused requests raise the exceptions in
``plugin/exceptions.py``.
"""

from __future__ import annotations


class RobotSpecError(Exception):
    """Base of every error of this package."""


class ConfigurationError(RobotSpecError, ValueError):
    """A wrong setting or argument; names it, its value and the remedy."""


class UnreachableError(RobotSpecError):
    """No response of a site decides; the message says why."""


class StoreError(RobotSpecError):
    """A store's back end failed."""
