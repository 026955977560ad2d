"""How much of the package a plain crawl loads: start-up time grows with each module."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

from tests.support.server import Server

#: Max modules of the package that a crawl with the add-on and ``ROBOTSTXT_OBEY`` loads.
MAX_MODULES = 70

#: A crawl of the URLs in the arguments. The last line of its output names the loaded modules.
CRAWL = textwrap.dedent(
    """
    import json, sys
    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess

    class Example(Spider):
        name = "example"
        start_urls = sys.argv[1:]
        visited = []

        def parse(self, response):
            self.visited.append(response.url)

    addons = {"scrapy_robotspec.Addon": 500}
    process = CrawlerProcess({"ROBOTSTXT_OBEY": True, "ADDONS": addons, "LOG_ENABLED": False})
    process.crawl(Example)
    process.start()
    loaded = [name for name in sys.modules if name.split(".")[0] == "scrapy_robotspec"]
    print(json.dumps({"visited": Example.visited, "loaded": sorted(loaded)}))
    """
)


def test_a_plain_crawl_loads_few_modules() -> None:
    """Modules for settings that are not set, or for other commands, are not imported."""
    with Server() as server:
        site = server.site("127.0.0.2", "User-agent: *\nDisallow: /no")
        urls = [site.url("/yes"), site.url("/no")]
        output = subprocess.check_output([sys.executable, "-c", CRAWL, *urls], text=True)
    result = json.loads(output.splitlines()[-1])
    assert result["visited"] == urls[:1]
    assert len(result["loaded"]) <= MAX_MODULES, result["loaded"]
