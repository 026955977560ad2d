"""Content codings that can be decoded up to a size limit."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _library(name: str) -> Any:
    """An optional module, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


# br and zstd are decoded if a library that can stop at a limit is installed, as with every new
# Scrapy.
BROTLI = _library("brotli")
if not hasattr(getattr(BROTLI, "Decompressor", None), "can_accept_more_data"):  # from 1.2 on
    BROTLI = None
ZSTD = _library("compression.zstd") or _library("backports.zstd")

GZIP_CODINGS = (b"gzip", b"x-gzip")
_OPTIONAL = {b"br": BROTLI, b"zstd": ZSTD}


def can_decode(coding: bytes) -> bool:
    """Whether *coding* (lower case) can be decoded up to a limit here."""
    return coding in (*GZIP_CODINGS, b"deflate") or _OPTIONAL.get(coding) is not None
