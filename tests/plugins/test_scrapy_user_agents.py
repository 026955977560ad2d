"""scrapy-user-agents: a random User-Agent for each request."""

from __future__ import annotations

from tests.plugins.random_user_agents import check
from tests.plugins.sites import need
from tests.support.server import Server

need("scrapy_user_agents", "scrapy-user-agents")


def test_rules_are_those_of_the_product_token(server: Server) -> None:
    check(server, "scrapy_user_agents.middlewares.RandomUserAgentMiddleware")
