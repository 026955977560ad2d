"""Signals of this package, as plain objects: importing them needs no Scrapy.

Connect to them as to any of Scrapy's: ``crawler.signals.connect(handler, signals.robots_changed)``.
"""

from __future__ import annotations

#: Sent when a refresh brought other octets than the copy held before. Arguments: ``origin``
#: (:class:`~scrapy_robotspec.Origin`), ``old`` and ``new`` (:class:`~scrapy_robotspec.RobotsTxt`).
robots_changed = object()
