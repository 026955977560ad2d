"""``python -m scrapy_robotspec``: the command line of ``cli``."""

import sys

from scrapy_robotspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
