"""Fixtures of the tests with other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own for one test."""
    with Server() as running:
        yield running
