"""Each module has a file of tests at its path, where a reader looks for them first."""

from __future__ import annotations

from pathlib import Path

import scrapy_robotspec

PACKAGE = Path(scrapy_robotspec.__file__).parent
TESTS = Path(__file__).parents[1]
#: They contain nothing to test.
EXEMPT = {"__init__", "__main__", "_version"}


#: Modules whose tests stand elsewhere than at their own path below ``tests/unit``.
ELSEWHERE = {
    "access/codings.py": "unit/access/test_decoding.py",
    "edition_changes.py": "unit/test_editions.py",
    "cli/audit.py": "unit/cli/test_evidence.py",
    "cli/by_rule.py": "unit/cli/test_sitemap.py",
}


def test_each_module_has_tests_of_its_path() -> None:
    """``plugin/robots.py`` in ``unit/plugin/test_robots.py``: names stand in several packages."""
    missing = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem in EXEMPT:
            continue
        module = path.relative_to(PACKAGE)
        usual = Path("unit", module.parent, f"test_{path.stem.lstrip('_')}.py")
        if not (TESTS / ELSEWHERE.get(str(module), usual)).exists():
            missing.append(str(module))
    assert missing == []
    assert all((PACKAGE / module).exists() for module in ELSEWHERE)
