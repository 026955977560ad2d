"""A type checker reads the public names, and the examples of the documentation."""

from __future__ import annotations

from pathlib import Path

from mypy import api

import run
from tests.project.test_documents import blocks

ROOT = Path(run.__file__).parent
CONFIG = ["--config-file", str(ROOT / "pyproject.toml")]


def test_a_type_checker_sees_the_real_types() -> None:
    """Lazy names must not turn into Any. The questions stand in typed_api.py."""
    report, errors, status = api.run([*CONFIG, str(ROOT / "tests" / "lint" / "typed_api.py")])
    own = [line for line in report.splitlines() if "typed_api.py" in line]
    assert own == []
    assert errors == ""
    assert status in (0, 1)  # 1: other files have findings, which is not asked here


def test_python_allows_for_none(tmp_path: Path) -> None:
    """A type checker finds no use of a value that may be None."""
    files = []
    for param in blocks("python"):
        block = param.values[0]
        if "import" in block.text and not block.text.startswith(">>>"):
            files.append(tmp_path / f"{block.page.stem}_{block.line}.py")
            files[-1].write_text(block.text)
    assert len(files) >= 6
    report, errors, _ = api.run([*CONFIG, *map(str, files)])
    assert [line for line in report.splitlines() if "[union-attr]" in line] == []
    assert "Found " in report or "Success" in report, errors
