"""The files of a folder: all of them in order, and the number of those left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_robotspec import ConfigurationError
from scrapy_robotspec.folders import TEXTS, files_of, is_text


def test_files_below_a_folder_are_found_in_order(tmp_path: Path) -> None:
    """Others, hidden ones and links are left out and counted."""
    (tmp_path / "b/.git").mkdir(parents=True)
    for name in ("z.txt", "A.TXT", ".hidden.txt", "b/c.robots", "b/d", "b/.git/x.txt"):
        (tmp_path / name).touch()
    (tmp_path / "broken.txt").symlink_to("nowhere")
    (tmp_path / "link.txt").symlink_to("A.TXT")
    (tmp_path / "again.txt").symlink_to("b", target_is_directory=True)
    found, left_out = files_of(str(tmp_path), TEXTS)
    names = [str(Path(path).relative_to(tmp_path)) for path in found]
    assert names == ["A.TXT", "z.txt", "b/c.robots"]
    assert left_out == 5


def test_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """It is not taken for an empty one."""
    with pytest.raises(ConfigurationError, match=r"cannot read .*none: No such file"):
        files_of(str(tmp_path / "none"), TEXTS)


def test_folder_without_such_a_file_is_named_with_the_endings(tmp_path: Path) -> None:
    (tmp_path / "x.warc").touch()
    with pytest.raises(ConfigurationError, match=r"no file in .* ends in \.txt or \.robots"):
        files_of(str(tmp_path), TEXTS)


@pytest.mark.parametrize(
    ("name", "expected"), [("a.txt", True), ("A.TXT", True), ("a.robots", True), ("txt", False)]
)
def test_robots_txt_files_are_known_by_their_endings(name: str, expected: bool) -> None:
    assert is_text(name) is expected
