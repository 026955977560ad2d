"""Opens the evidence of a crawl in the folder of ``ROBOTSPEC_EVIDENCE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_robotspec import __version__
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.recorder import Recorder
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.run_writer import RunWriter, new_run_name
from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
from scrapy_robotspec.plugin.evidence.observer import EvidenceObserver
from scrapy_robotspec.plugin.settings.tokens import default_user_agent

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.robots import CrawlRobots


def open_evidence(
    crawler: Crawler, robots: CrawlRobots, now: float
) -> tuple[EvidenceObserver, ExchangeArchive]:
    """Open new files for a crawl that starts at *now* (epoch seconds).

    Raises ``ConfigurationError`` for a folder that cannot be written.
    """
    recorder = _open_recorder(crawler, robots, now)
    return EvidenceObserver(recorder, robots), ExchangeArchive(recorder)


def _open_recorder(crawler: Crawler, robots: CrawlRobots, now: float) -> Recorder:
    settings = robots.settings
    assert settings.evidence is not None
    run = RunSettings(
        policy=settings.policy(),
        redirects=settings.redirect_limits,
        max_size=settings.max_size,
        usage=robots.policy.usage,
        overrides=settings.overrides,
        tokens=robots.tokens.fixed,
    ).to_json()
    spider = getattr(crawler.spider, "name", "")
    header = {"time": now, "software": _software(), "spider": spider, "settings": run}
    info = {
        "software": _software(),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Each robots.txt of a crawl, as received",
        "http-header-user-agent": default_user_agent(crawler)[0],
        "robotspec-settings": dumps(run),
    }
    folder = Path(settings.evidence)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Recorder(RunWriter(folder, new_run_name(now), header, info))
    except OSError as error:
        raise wrong(
            "ROBOTSPEC_EVIDENCE", settings.evidence, f"a folder that can be written ({error})"
        ) from None


def _software() -> str:
    return f"scrapy-robotspec {__version__}"
