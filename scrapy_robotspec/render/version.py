"""The version of the package."""

from __future__ import annotations


def version() -> str:
    """The version of the package."""
    from importlib import metadata  # slow to import

    try:
        return metadata.version("scrapy-robotspec")
    except metadata.PackageNotFoundError:
        return "(not installed)"
