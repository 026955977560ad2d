"""The public names of scrapy_robotspec, and its version.

Importing this package loads neither Scrapy nor Twisted, nor much else: a name is imported from its
home when it is first used.
"""

from __future__ import annotations

from importlib import import_module

from scrapy_robotspec import signals
from scrapy_robotspec.errors import ConfigurationError, RobotSpecError, StoreError

TYPE_CHECKING = False  # the import of typing is most of the time before commands handle Ctrl-C

if TYPE_CHECKING:
    from typing import Any

    from scrapy_robotspec._version import __version__ as __version__
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.editions import EDITIONS, Edition, get_edition
    from scrapy_robotspec.plugin.addon import Addon
    from scrapy_robotspec.plugin.exceptions import (
        ForbiddenByRobots,
        ForbiddenUsage,
        RobotsUnreachable,
    )
    from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
    from scrapy_robotspec.plugin.robotparser import RobotSpecParser
    from scrapy_robotspec.plugin.scheduling.priority_queue import WaitingPriorityQueue
    from scrapy_robotspec.plugin.spiders import SitemapsFromRobots
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.models import Group, OtherLine, Rule, Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement

__all__ = [
    "EDITIONS",
    "Addon",
    "ConfigurationError",
    "Decision",
    "Edition",
    "Finding",
    "ForbiddenByRobots",
    "ForbiddenUsage",
    "Group",
    "Origin",
    "OtherLine",
    "RobotSpecError",
    "RobotSpecMiddleware",
    "RobotSpecParser",
    "RobotsTxt",
    "RobotsUnreachable",
    "Rule",
    "SitemapsFromRobots",
    "StoreError",
    "Usage",
    "UsageStatement",
    "Verdict",
    "WaitingPriorityQueue",
    "get_edition",
    "signals",
]

#: Where the names live that are imported at their first use.
_HOMES = {
    "EDITIONS": "editions",
    "Addon": "plugin.addon",
    "Decision": "access.decision",
    "Edition": "editions",
    "Finding": "protocol.lint.findings",
    "ForbiddenByRobots": "plugin.exceptions",
    "Group": "protocol.models",
    "ForbiddenUsage": "plugin.exceptions",
    "Origin": "access.origin",
    "OtherLine": "protocol.models",
    "RobotSpecMiddleware": "plugin.middleware",
    "RobotSpecParser": "plugin.robotparser",
    "RobotsTxt": "protocol.robotstxt",
    "RobotsUnreachable": "plugin.exceptions",
    "Rule": "protocol.models",
    "SitemapsFromRobots": "plugin.spiders",
    "Usage": "protocol.usage",
    "UsageStatement": "protocol.usage",
    "Verdict": "protocol.models",
    "WaitingPriorityQueue": "plugin.scheduling.priority_queue",
    "__version__": "_version",
    "get_edition": "editions",
}


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
