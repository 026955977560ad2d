"""Each module has a file of tests of its name, where a reader looks for them first."""

from __future__ import annotations

from pathlib import Path

import scrapy_robotspec

PACKAGE = Path(scrapy_robotspec.__file__).parent
TESTS = Path(__file__).parents[1]
#: They contain nothing to test.
EXEMPT = {"__init__", "__main__", "_version"}


def test_each_module_has_tests_of_its_name() -> None:
    tested = {path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}
    modules = {
        path: path.stem.lstrip("_") for path in PACKAGE.rglob("*.py") if path.stem not in EXEMPT
    }
    missing = {
        str(path.relative_to(PACKAGE)) for path, name in modules.items() if name not in tested
    }
    assert missing == set()
