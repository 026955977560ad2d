"""Replaces files as a whole; no full disk damages one."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import partial
from glob import escape, glob
from stat import S_IMODE, S_ISREG
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Beginning of a new file's name that is taken from the old one (characters).
_NAME = 50
#: Length of the random part of that name.
_RANDOM = 16
_ENDING = ".unfinished"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file that replaces *path* at the end of the block.

    It is written beside the old one, flushed to the disk and renamed. It gets the mode and, if
    permitted, the owner of the old one. After an error or an interruption the old file is as it
    was, and the new one is removed. A link is replaced, not its target. A pipe or a device is
    written to instead.

    Raises ``OSError`` where the system refuses.
    """
    old = None
    with suppress(FileNotFoundError):
        old = os.stat(path)
    if old is not None and not S_ISREG(old.st_mode):
        with open(path, "wb") as stream:
            yield stream
        return
    mode = 0o666 if old is None else S_IMODE(old.st_mode)  # from the first byte on
    new = f"{_beginning(path)}{os.urandom(_RANDOM // 2).hex()}{_ENDING}"
    try:
        file = open(new, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
    except OSError as error:
        reason = f"{os.path.dirname(path) or '.'} takes no new file: {error.strerror}"
        raise OSError(error.errno, reason) from error
    try:
        with file:
            yield file
            file.flush()
            if old is not None:
                with suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(new)
        raise


def unfinished(path: str) -> list[str]:
    """New files of *path* that are not finished, or never were."""
    return glob(f"{escape(_beginning(path))}{'?' * _RANDOM}{_ENDING}")


def _beginning(path: str | os.PathLike[str]) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:_NAME]}.")
