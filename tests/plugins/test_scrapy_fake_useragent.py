"""scrapy-fake-useragent: a random User-Agent for each request."""

from __future__ import annotations

from tests.plugins.random_user_agents import check
from tests.plugins.sites import need
from tests.support.server import Server

need("scrapy_fake_useragent", "scrapy-fake-useragent")


def test_rules_are_those_of_the_product_token(server: Server) -> None:
    check(server, "scrapy_fake_useragent.middleware.RandomUserAgentMiddleware")
