"""Revisit records, whose body is in another record of some archive."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.documents import REVISIT, Document
from scrapy_robotspec.bulk.warc import read_warc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy_robotspec.bulk.documents import Report

#: Max size of the bodies that are kept (bytes).
_KEPT = 64 * 1024 * 1024


class Archives:
    """Archives in which the bodies of revisit records are looked for."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self.searched: tuple[str, ...] = ()
        """The states of all of them where what was read depends on them."""

    def read(self, path: str, report: Report) -> Iterator[Document]:
        """The robots.txt responses of one of them; damage is reported."""
        for document, digest in read_warc(path, report):
            yield self._resolve(document, digest) if document.error == REVISIT else document

    def _resolve(self, revisit: Document, digest: str | None) -> Document:
        """The response with its body, if an archive has it (WARC 1.1, section 6.8)."""
        self.searched = self.searched or tuple(file_states(self._paths))
        original = _originals(self._paths, self.searched).get(digest)
        if original is None:
            return revisit
        status = original.status if revisit.status in (None, 304) else revisit.status
        return revisit._replace(body=original.body, status=status, error=None)


@lru_cache(maxsize=1)  # all inputs of a run ask
def _originals(paths: Iterable[str], _: Iterable[str]) -> Mapping[str | None, Document]:
    """The whole files in some archives, by the digests of their bodies."""
    found: dict[str | None, Document] = {}
    room = _KEPT
    for path in paths:
        with suppress(OSError):
            for document, digest in read_warc(path, lambda _: None):  # its own output reports
                size = len(document.body or b"")
                is_whole = document.status in range(200, 300) and document.error is None
                if is_whole and digest and digest not in found and size <= room:
                    found[digest] = document
                    room -= size
    return found


def file_states(paths: Iterable[str]) -> Iterator[str]:
    """Texts that change when the files do."""
    for path in paths:
        with suppress(OSError):
            found = os.stat(path)
            yield f"{os.path.abspath(path)} {found.st_size} {found.st_mtime_ns}\n"
