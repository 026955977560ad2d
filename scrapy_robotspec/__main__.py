"""``robotspec`` and ``python -m scrapy_robotspec``: the command line with access to sites."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.cli.session import QuerySites


def main() -> int:
    """Run the command line of this process and return its exit code."""
    from scrapy_robotspec.cli.app import main as run

    program = "robotspec"
    return run(load_query=_load_query, program=program)


def _load_query() -> QuerySites:
    """Import Scrapy, only once a site is queried."""
    from scrapy_robotspec.plugin.commands.run import query_sites

    return query_sites


if __name__ == "__main__":
    sys.exit(main())
