"""``robotspec`` and ``python -m scrapy_robotspec``: the command line with access to sites."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # typing is imported once Ctrl-C is handled

if TYPE_CHECKING:
    from scrapy_robotspec.cli.session import QuerySites


def main() -> int:
    """Run the command line of this process and return its exit code."""
    # A KeyboardInterrupt can get lost in an import, and the command would go on.
    signal.signal(signal.SIGINT, lambda *frame: os._exit(130))
    from functools import partial

    from scrapy_robotspec.cli.app import main as run
    from scrapy_robotspec.cli.session import Session

    code = run(partial(Session, load_query=_load_query))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # no traceback while Python ends
    return code


def _load_query() -> QuerySites:
    """Import Scrapy, only once a site is queried."""
    from scrapy_robotspec.plugin.commands.run import query_without_project

    return query_without_project()


if __name__ == "__main__":
    sys.exit(main())
