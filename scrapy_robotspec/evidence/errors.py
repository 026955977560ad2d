"""Errors of reading evidence."""

from __future__ import annotations

from scrapy_robotspec.errors import RobotSpecError


class EvidenceError(RobotSpecError):
    """A log line or an archive record is missing or was changed."""
