"""Files that are only appended to, and survive a full disk."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class AppendFile:
    """A new file that only grows.

    A part that could not be written is kept for the next :meth:`flush`. Raises ``FileExistsError``
    where the file is there already.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        self._parts: list[bytes] = []
        self.size = 0
        """Bytes, those not written yet included."""
        self._counts_links = os.fstat(self._fd).st_nlink > 0  # some network drives do not

    def append(self, data: bytes) -> None:
        """Put *data* at the end; it reaches the disk with :meth:`flush`."""
        self._parts.append(data)
        self.size += len(data)

    def flush(self) -> None:
        """Write what is pending.

        Raises ``OSError``; the rest is then kept. ``FileNotFoundError``: the file was deleted, with
        all that it contained.
        """
        if self._counts_links and os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "it was deleted", str(self._path))
        rest = memoryview(b"".join(self._parts))
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        finally:
            self._parts = [bytes(rest)] if rest else []

    def close(self) -> None:
        """Flush, wait for the disk, and close.

        Raises ``OSError``; the file then stays open.
        """
        self.flush()
        os.fsync(self._fd)
        os.close(self._fd)
