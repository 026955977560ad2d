"""The import contracts of ``pyproject.toml`` hold."""

from __future__ import annotations

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports


def test_imports_keep_the_contracts() -> None:
    """Layers, no circle in any package, and Scrapy in the plugin alone."""
    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS
