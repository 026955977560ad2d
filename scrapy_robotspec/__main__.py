"""``robotspec`` and ``python -m scrapy_robotspec``: the command line with access to sites."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.cli.session import AskSites


def main() -> int:
    """Run the command line of this process and return its exit code."""
    from scrapy_robotspec.cli.app import main as run

    program = "robotspec"
    return run(load_ask=_load_ask, program=program)


def _load_ask() -> AskSites:
    """Import Scrapy, only once a site is to be asked."""
    from scrapy_robotspec.plugin.commands.run import ask_sites

    return ask_sites


if __name__ == "__main__":
    sys.exit(main())
