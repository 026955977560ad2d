"""The import contracts of ``pyproject.toml`` hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import run

CHECK = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"


def test_imports_keep_the_contracts() -> None:
    """Layers, no circle in any package, and Scrapy in the plugin alone."""
    root = Path(run.__file__).parent
    found = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=root, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
