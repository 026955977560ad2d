"""The files of a folder that commands and bulk runs read."""

from __future__ import annotations

import os

from scrapy_robotspec.errors import ConfigurationError

#: A folder's files with these endings are robots.txt files, in either case.
TEXTS = (".txt", ".robots")


def is_text(name: str) -> bool:
    """Whether a file is a robots.txt file by its name."""
    return name.lower().endswith(TEXTS)


def files_of(folder: str, endings: tuple[str, ...]) -> tuple[list[str], int]:
    """The files below a folder by ending, and how many others.

    Left out are other files, hidden ones, and links: who has made the folder chooses no file of
    this machine. Raises
    ``ConfigurationError`` for a folder that cannot be read or has no such file.
    """
    found: list[str] = []
    left_out = 0
    for path, below, names in os.walk(folder, onerror=_refuse):
        below[:] = sorted(name for name in below if not name.startswith("."))
        left_out += sum(os.path.islink(os.path.join(path, name)) for name in below)
        for name in sorted(names):
            whole = os.path.join(path, name)
            has_ending = name.lower().endswith(endings) and not name.startswith(".")
            if has_ending and os.path.isfile(whole) and not os.path.islink(whole):
                found.append(whole)
            else:
                left_out += 1
    if not found:
        named = " or ".join(endings)
        raise ConfigurationError(f"no file in the folder {folder} ends in {named}")
    return found, left_out


def _refuse(error: OSError) -> None:
    """Do not leave out a folder without a word."""
    raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}") from error
