"""Files are replaced as a whole, or stay as they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from scrapy_robotspec.files import replacing, unfinished


def test_a_file_appears_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    """The old contents are there until the last byte of the new ones is on the disk."""
    path = tmp_path / "robots.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        assert unfinished(str(path)) == [str(each) for each in tmp_path.iterdir() if each != path]
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604, 0o400])
def test_the_new_contents_are_never_more_readable_than_the_old_ones(
    tmp_path: Path, mode: int
) -> None:
    """Nor are they while they lie beside them."""
    path = tmp_path / "secret"
    path.touch()
    path.chmod(mode)
    with replacing(path) as file:
        file.write(b"new")
        (new,) = unfinished(str(path))
        assert stat.S_IMODE(os.stat(new).st_mode) & ~mode == 0
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ValueError])
def test_an_error_leaves_the_old_file_alone(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    """SAF-05: another user of the folder must not choose which file is overwritten."""
    path, precious = tmp_path / "report.jsonl", tmp_path / "precious"
    precious.write_bytes(b"precious")
    path.symlink_to(precious)
    with replacing(path) as file:
        file.write(b"new")
    assert (path.is_symlink(), path.read_bytes()) == (False, b"new")
    assert precious.read_bytes() == b"precious"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """As a shell's ``>(command)``."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(path) as file:
        file.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)


def test_a_device_stays_one(null_device: Path) -> None:
    with replacing(null_device) as file:
        file.write(b"new")
    assert null_device.is_char_device()


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, os.fsdecode(b"\xff" * 200), "*", "..."])
def test_any_name_can_be_replaced(tmp_path: Path, name: str) -> None:
    """However long, and in whatever encoding."""
    path = tmp_path / name
    for _ in range(2):
        with replacing(path):
            pass
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_only_files_of_the_same_name_are_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that another tool has written is taken for one."""
    for name in (".a.unfinished", ".a.b.0123456789abcdef.unfinished", "a.unfinished", ".a"):
        (tmp_path / name).touch()
    assert unfinished(str(tmp_path / "a")) == []
    ours = tmp_path / ".a.0123456789abcdef.unfinished"
    ours.touch()
    assert unfinished(str(tmp_path / "a")) == [str(ours)]
    monkeypatch.chdir(tmp_path)
    assert unfinished("a") == [ours.name]
    assert unfinished(str(tmp_path / "missing/a")) == []
