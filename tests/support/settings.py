"""Settings of the crawls: the job's over common ones."""

from __future__ import annotations

from tests.support.event_log import read_job

BOT_NAME = "harness"
SPIDER_MODULES = ["tests.support.spiders", "tests.crawl.spiders"]
EXTENSIONS = {"tests.support.event_log.Notes": 0}
ADDONS = {"scrapy_robotspec.Addon": 500}
ROBOTSTXT_OBEY = True
USER_AGENT = "examplebot/1.0 (+https://example.com/bot)"
TELNETCONSOLE_ENABLED = False

globals().update(read_job()["settings"])
