"""A fleet on a Redis cluster of which a node is killed."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.support.crawl import crawl
from tests.support.redis_cluster import RedisCluster
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"


@pytest.fixture
def closed() -> Iterator[socket.socket]:
    """A socket that refuses connections to the port it is bound to."""
    with socket.socket() as unheard:
        unheard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield unheard


def test_the_origins_of_a_killed_node_are_crawled_as_without_a_store(
    server: Server, cluster: RedisCluster, closed: socket.socket
) -> None:
    """CAC-04, CAC-05: the others are still asked once by all processes."""
    sites = [server.site(f"127.0.2.{n + 1}", RULES) for n in range(24)]
    settings = {"ROBOTSPEC_CACHE": cluster.uri}
    for page in range(2):
        urls = [site.url(f"/{word}{page}") for site in sites for word in ("yes", "no")]
        result = crawl(urls, settings)
        assert result.ended_once(urls)
        assert "Traceback" not in result.log
        if not page:
            cluster.nodes[2].stop()
            closed.bind(("127.0.0.1", cluster.nodes[2].port))  # or another program may get it
    assert len(result.lines("WARNING", "The robots.txt store of ROBOTSPEC_CACHE fails")) == 1
    assert [sorted(site.pages_asked) for site in sites] == [["/yes0", "/yes1"]] * len(sites)
    assert {len(site.robots_asked) for site in sites} == {1, 2}
