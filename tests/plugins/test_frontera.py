"""Frontera: it cannot be used with any Python and Scrapy of today."""

from __future__ import annotations

import pytest

from tests.plugins.sites import need

need("frontera", "frontera")


def test_the_plugin_cannot_be_imported() -> None:
    """When this fails, the page has to say what works with it."""
    with pytest.raises(ImportError, match="to_native_str"):
        __import__("frontera.contrib.scrapy.schedulers.frontier")
