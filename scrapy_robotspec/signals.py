"""Signals of this package; importing them does not load Scrapy.

Connect to them like to Scrapy's: ``crawler.signals.connect(handler, signals.robots_changed)``.
"""

from __future__ import annotations

#: Sent when a refreshed robots.txt differs from the copy before. Arguments: ``origin``
#: (:class:`~scrapy_robotspec.Origin`), ``old`` and ``new`` (:class:`~scrapy_robotspec.RobotsTxt`).
robots_changed = object()

#: Sent once for each refused request. Arguments: ``request``, ``decision``
#: (:class:`~scrapy_robotspec.access.decision.Decision`), ``spider``. Handlers cannot be coroutines.
request_refused = object()
