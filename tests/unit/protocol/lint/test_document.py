"""``docs/lint.md`` says what the linter does."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[4] / "docs"


def test_page_lists_the_codes_as_they_are() -> None:
    """``python docs/lint_codes.py`` mends the page."""
    command = [sys.executable, str(DOCS / "lint_codes.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_example_of_the_page_prints_what_the_page_shows() -> None:
    """The example runs."""
    failures, tries = doctest.testfile(str(DOCS / "lint.md"), module_relative=False)
    assert (failures, tries > 0) == (0, True)
