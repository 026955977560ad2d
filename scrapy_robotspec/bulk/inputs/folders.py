"""Folders of robots.txt files; names or an index give the origins."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.bulk.inputs.parts import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.bulk.inputs.parts import Skipped

#: A folder's files with these endings are robots.txt files.
ENDINGS = (".txt", ".robots")
#: A table in the folder, or in the one above, with the columns ``file`` and ``site`` or ``url``.
INDEX = "index.csv"

_PART_FILES = 500
_ENDING = re.compile(r"([._-]?robots)?(\.txt|\.robots)?$", re.IGNORECASE)
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z][a-z0-9-]*[a-z0-9]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FolderPart:
    """Some files of a folder."""

    files: tuple[tuple[str, str | None], ...]
    """Path, and URL of the robots.txt if it is known."""
    size: int

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The files as documents of unknown status."""
        return (_read(path, url) for path, url in self.files)


def _read(path: str, url: str | None) -> Document | Problem:
    try:
        with open(path, "rb") as file:
            return Document(url, file.read(MAX_BODY), source=path)
    except OSError as error:
        return Problem(f"cannot read {path}: {error.strerror}")


def folder_parts(files: Sequence[tuple[str, int]]) -> Iterator[FolderPart]:
    """Parts of some files, given as path and size."""
    indexes: dict[str, Mapping[str, str]] = {}
    for start in range(0, len(files), _PART_FILES):
        some = files[start : start + _PART_FILES]
        named = tuple((path, _url_of(path, indexes)) for path, _ in some)
        yield FolderPart(named, sum(size for _, size in some))


def _url_of(path: str, indexes: dict[str, Mapping[str, str]]) -> str | None:
    folder, name = os.path.split(path)
    for place in (folder, os.path.dirname(os.path.abspath(folder))):
        if place not in indexes:
            indexes[place] = _read_index(os.path.join(place, INDEX))
        if site := indexes[place].get(name):
            return site if "://" in site else url_from_name(site)
    return url_from_name(path)


def _read_index(path: str) -> Mapping[str, str]:
    """The site of each file that an index names; nothing without a usable index."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            return {
                os.path.basename(row["file"]): site
                for row in rows
                if row.get("file") and (site := row.get("url") or row.get("site"))
            }
    except (OSError, csv.Error):
        return {}


def url_from_name(path: str) -> str | None:
    """The https URL of a robots.txt saved under its host's name.

    ``example.com.txt``, ``example.com.robots.txt``, ``example.com/robots.txt``.
    """
    folder, name = os.path.split(path)
    host = _ENDING.sub("", name) or os.path.basename(folder)
    return f"https://{host.lower()}/robots.txt" if _HOST.fullmatch(host) else None
