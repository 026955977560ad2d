"""``scrapy robotspec``: the command line with the settings of a project.

Scrapy imports this module on every call of ``scrapy``, so it imports only Scrapy's base class.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from scrapy_robotspec.cli.session import QuerySites, Screen, Session


class RobotSpecCommand(ScrapyCommand):
    """``scrapy robotspec COMMAND …``, in a project or without one."""

    requires_project = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        """How to call it."""
        return "COMMAND [FILE or URL] ..."

    def short_desc(self) -> str:
        """One line for the list of commands."""
        return "Show what robots.txt allows, and why"

    def long_desc(self) -> str:
        """The first sentence of the help."""
        return "robotspec with the downloader, settings, product token and cache of the project."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare Scrapy's options only; the others are read by the command itself."""
        super().add_options(parser)
        parser.add_argument("-h", "--help", action="store_true", dest="robotspec_help")

    def run(self, args: Sequence[str], opts: argparse.Namespace) -> None:
        """Run the command line; sets the exit code."""
        # A KeyboardInterrupt can get lost in an import, and the command would go on.
        signal.signal(signal.SIGINT, lambda *frame: os._exit(130))
        if args[:1] == ["doctor"]:
            from scrapy_robotspec.plugin.commands.run import USAGE, diagnose

            if args[1:] or opts.robotspec_help:
                print(USAGE)
                self.exitcode = 2 if args[1:] else 0
            else:
                diagnose(self._project_settings())
            return
        from scrapy_robotspec.cli.app import main

        words = [*args, "--help"] if opts.robotspec_help else list(args)
        self.exitcode = main(self._session, words, program="scrapy robotspec")

    def _session(self, screen: Screen) -> Session:
        """The session of this call. Raises ``ConfigurationError`` for wrong settings."""
        from scrapy import Spider
        from scrapy.crawler import Crawler
        from scrapy.utils.project import inside_project

        from scrapy_robotspec.cli.session import Session
        from scrapy_robotspec.plugin.deciding.tokens import default_user_agent, text_of
        from scrapy_robotspec.plugin.settings.settings import Settings
        from scrapy_robotspec.protocol.agents import tokens_from_user_agent

        assert self.crawler_process is not None
        crawler = Crawler(Spider, self.crawler_process.settings)
        settings = Settings.from_scrapy(crawler.settings)
        tokens = settings.user_agent_token
        if tokens is None and inside_project():
            # As TokenSelector, which imports every middleware of the project.
            name = crawler.settings["ROBOTSTXT_USER_AGENT"] or default_user_agent(crawler)[0]
            tokens = tokens_from_user_agent(text_of(name), settings.edition)
        return Session(
            screen,
            self._load_query,
            settings.edition,
            tokens if isinstance(tokens, tuple) else (),
        )

    def _load_query(self) -> QuerySites:
        """Access to sites through the project."""
        from functools import partial

        from scrapy_robotspec.plugin.commands.run import query_with

        self._project_settings()
        assert self.crawler_process is not None
        return partial(query_with, self.crawler_process)

    def _project_settings(self) -> Settings:
        """The settings of the project; a note if its crawls obey nothing."""
        import sys

        from scrapy_robotspec.plugin.commands.run import missing_note

        assert self.crawler_process is not None
        if note := missing_note(self.crawler_process.settings):
            sys.stderr.write(f"{note}\n")
        return self.crawler_process.settings
