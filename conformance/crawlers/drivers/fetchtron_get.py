"""Gets the pages with fetchtron, loopback allowed."""

import sys
from contextlib import suppress

from fetchtron import fetch

for url in sys.argv[1:]:
    with suppress(Exception):  # refused
        fetch(url, allowlist=["127.0.0.1"], allow_private=True)
