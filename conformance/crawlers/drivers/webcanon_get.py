"""Gets the pages with WebCanon, loopback allowed."""

import sys
from contextlib import suppress

from webcanon import WebCanon
from webcanon.config import FetchConfig, RetrievalConfig

client = WebCanon(RetrievalConfig(fetch=FetchConfig(block_private_addresses=False)))
for url in sys.argv[1:]:
    with suppress(Exception):  # refused
        client.retrieve_url(url)
