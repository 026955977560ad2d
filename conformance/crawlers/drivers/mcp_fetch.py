"""Fetches the pages as mcp-server-fetch does for a model."""

import asyncio
import sys
from contextlib import suppress

from mcp_server_fetch.server import (
    DEFAULT_USER_AGENT_AUTONOMOUS,
    check_may_autonomously_fetch_url,
    fetch_url,
)


async def main():
    """Ask for each page, as the tool does."""
    agent = DEFAULT_USER_AGENT_AUTONOMOUS
    for url in sys.argv[1:]:
        with suppress(Exception):  # refused
            await check_may_autonomously_fetch_url(url, agent, allow_private_ips=True)
            await fetch_url(
                url, agent, force_raw=True, allow_private_ips=True, check_robots_txt=True
            )


asyncio.run(main())
