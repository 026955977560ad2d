"""Ends what a test has left."""

from __future__ import annotations

from tests.unit.lookup.fakes import LIVE


def pytest_runtest_teardown() -> None:
    """Stop the lookups of a test: collected later, they would log errors in another one."""
    while LIVE:
        LIVE.pop().lookup.stop()
