"""``scrapy robotspec``: asks sites for their robots.txt as the project's own crawls would.

Scrapy loads this module on every call of ``scrapy``, so it imports nothing but Scrapy's base class;
what the command does stands in ``asking.py`` and ``telling.py``.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = """\
examples:
  scrapy robotspec check https://example.com/page https://example.org/
  scrapy robotspec check --urls urls.txt --disallowed
  scrapy robotspec explain https://example.com/page
  scrapy robotspec explain https://example.com/page --token GPTBot --edition rfc9309
  scrapy robotspec explain https://example.com/page --html page.html

exit codes: 0 all allowed; 1 something disallowed; 2 misuse; 3 a robots.txt could not be had

Files are read by: python -m scrapy_robotspec
"""


class RobotSpecCommand(ScrapyCommand):
    """``scrapy robotspec check|explain URL...``, in a project or without one."""

    requires_project = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        """How to call it."""
        return "[options] check|explain <url> ..."

    def short_desc(self) -> str:
        """One line for the list of commands."""
        return "Tell whether robots.txt lets a URL be crawled, and why"

    def long_desc(self) -> str:
        """What the help begins with."""
        return (
            "Fetch robots.txt through the project's downloader, with its settings, product token "
            "and cache, and tell whether URLs may be crawled (check), or walk the whole road to "
            "that answer (explain). No page is fetched."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options beside Scrapy's."""
        super().add_options(parser)
        parser.epilog = _EXAMPLES
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        group = parser.add_argument_group("robotspec")
        group.add_argument("--urls", metavar="FILE", help="a file with one URL per line")
        group.add_argument(
            "--token",
            metavar="TOKEN",
            action="append",
            default=[],
            help="product token instead of the project's; once more for each one to fall back on",
        )
        group.add_argument("--edition", metavar="NAME", help="edition instead of the project's")
        group.add_argument(
            "--timeout",
            metavar="SECONDS",
            type=float,
            default=10.0,
            help="longest wait for one robots.txt (default: %(default)g)",
        )
        group.add_argument(
            "--disallowed", action="store_true", help="check: only what is not allowed"
        )
        group.add_argument("--json", action="store_true", help="one JSON object per line")
        group.add_argument("--html", metavar="OUT", help="explain: write a page for a browser, too")

    def run(self, args: Sequence[str], opts: argparse.Namespace) -> None:
        """Ask and tell; sets the exit code."""
        if not args or args[0] not in ("check", "explain"):
            raise UsageError("say what to do: check or explain")
        unknown = [arg for arg in args if arg.startswith("-")]
        if unknown:
            raise UsageError(f"no such option: {unknown[0]}")
        from scrapy_robotspec.plugin.commands.session import run

        assert self.crawler_process is not None
        self.exitcode = run(self.crawler_process, args[0], list(args[1:]), opts)
