"""A lock on a folder, held by one run at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Make a folder and hold its lock.

    The lock ends with this process, however that ends. Raises ``ConfigurationError`` while
    another process holds it. Does not lock on Windows.
    """
    os.makedirs(folder, exist_ok=True)
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigurationError(
                f"another process is at work in {folder}: wait for it, or choose another output"
            ) from error
        yield
    finally:
        os.close(descriptor)
