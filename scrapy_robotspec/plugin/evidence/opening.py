"""Opens the files of a crawl's evidence, and fills in their heads."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.overrides import HostTable
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.recorder import Recorder
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.run_writer import RunWriter, new_run_name
from scrapy_robotspec.evidence.warc import BLANKED
from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
from scrapy_robotspec.plugin.evidence.observer import EvidenceObserver
from scrapy_robotspec.plugin.settings.tokens import default_user_agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import TokenSelector

_SOFTWARE = f"scrapy-robotspec {__version__}"
#: Settings that change requests. The log names those that the user has set...
_NAMED = (
    "ADDONS",
    "DEFAULT_REQUEST_HEADERS",
    "DNS_RESOLVER",
    "DOWNLOADER_MIDDLEWARES",
    "DOWNLOAD_HANDLERS",
    "DOWNLOAD_SLOTS",
    "SCHEDULER",
    "SPIDER_MIDDLEWARES",
)
#: ...and of these the values too.
_SHOWN = (
    "AUTOTHROTTLE_ENABLED",
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "COOKIES_ENABLED",
    "DOWNLOAD_DELAY",
    "HTTPCACHE_ENABLED",
    "HTTPPROXY_ENABLED",
    "REDIRECT_ENABLED",
    "RETRY_ENABLED",
    "ROBOTSTXT_OBEY",
    "USER_AGENT",
)


def open_evidence(
    crawler: Crawler,
    settings: Settings,
    tokens: TokenSelector,
    now: float,
) -> tuple[EvidenceObserver, ExchangeArchive]:
    """Open new files for a crawl that starts at *now* (epoch seconds).

    Raises ``ConfigurationError`` for a folder that cannot be written.
    """
    assert settings.evidence is not None
    run = RunSettings(
        policy=settings.policy(),
        redirects=settings.redirect_limits,
        max_size=settings.max_size,
        usage=UsagePolicy(settings.usage, settings.usage_policy),
        overrides=settings.overrides or HostTable(),
    ).to_json()
    run["tokens"] = tokens.usual if tokens.is_fixed else None
    folder = Path(settings.evidence).absolute()
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        header, info = _header(crawler, settings, now, run), _info(crawler, run)
        writer = RunWriter(folder, new_run_name(now), header, info)
    except OSError as error:
        raise wrong(
            "ROBOTSPEC_EVIDENCE", settings.evidence, f"a folder that can be written ({error})"
        ) from None
    recorder = Recorder(writer, settings.evidence_timestamp)
    exchanges = ExchangeArchive(recorder, settings.evidence_headers, settings.max_size)
    return EvidenceObserver(recorder, settings, tokens), exchanges


def _header(
    crawler: Crawler, settings: Settings, now: float, run: Mapping[str, Any]
) -> dict[str, Any]:
    """The first line of the log: operator, versions, settings."""
    given = crawler.settings
    changed = [
        name
        for name in sorted({*_NAMED, *_SHOWN, *settings.names()})
        if (given.getpriority(name) or 0) > 0
    ]
    return {
        "time": now,
        "software": _SOFTWARE,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("scrapy", "twisted")},
            "scrapy-robotspec": __version__,
        },
        "operator": settings.evidence_operator,
        "spider": getattr(crawler.spider, "name", ""),
        "changed_settings": changed,
        "values": {
            name: given[name]
            for name in _SHOWN
            if isinstance(given[name], bool | int | float | str)
        },
        "timestamp": settings.evidence_timestamp is not None,
        "settings": run,
    }


def _info(crawler: Crawler, run: Mapping[str, Any]) -> dict[str, str]:
    """The first record of the archive."""
    return {
        "software": _SOFTWARE,
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Each robots.txt of a crawl, as received. Values of request headers and "
        f"cookies, and user info in URLs, that read '{BLANKED}' were left out",
        "http-header-user-agent": default_user_agent(crawler)[0],
        "robotspec-settings": dumps(run),
    }
