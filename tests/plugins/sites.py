"""Sites with every kind of robots.txt response, and what a crawl of them must come to."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.responses import redirect, reply, reset, until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.crawl import Result
    from tests.support.responses import Answer
    from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
#: Attempts for an unreachable robots.txt follow quickly.
QUICK = {"ROBOTSPEC_RETRY_DELAY": 0.2, "ROBOTSPEC_RETRY_MAX_DELAY": 0.4, "ROBOTSPEC_RETRY_TIMES": 1}
#: Pages of each site, of each kind.
PAGES = 5


def need(module: str, project: str) -> None:
    """Skip the tests of a file where the plugin *project* is not installed."""
    if find_spec(module) is None:
        reason = f"{project} is not installed: tox -e plugins runs this"
        pytest.skip(reason, allow_module_level=True)


class Sites:
    """Sites that answer for robots.txt in different ways, each with pages of two kinds."""

    def __init__(self, server: Server, *, unreachable: bool = True) -> None:
        packed = reply(gzip.compress(RULES.encode()), headers=[("Content-Encoding", "gzip")])
        robots: dict[str, Answer] = {
            "rules": reply(RULES),
            "moved": redirect("/moved/robots.txt"),
            "missing": reply("User-agent: *\nDisallow: /\n", 404),
            "back soon": until(0.5, reply("", 503), reply(RULES)),
            "packed": packed,
        }
        if unreachable:
            robots["broken"] = reset()
        self.by_name: dict[str, Site] = {
            name: server.site(f"127.0.1.{n}", answer, pages={"/moved/robots.txt": reply(RULES)})
            for n, (name, answer) in enumerate(robots.items(), 1)
        }

    @property
    def urls(self) -> list[str]:
        """All pages, in turn from each site."""
        paths = [f"/{kind}{n}" for n in range(PAGES) for kind in ("yes", "no")]
        return [site.url(path) for path in paths for site in self.by_name.values()]

    def pages_asked(self, name: str) -> list[str]:
        """The pages that a site was asked for."""
        return sorted(path for path in self.by_name[name].pages_asked if "robots" not in path)

    def check_pages(self) -> None:
        """The sites have seen the allowed pages, each once, and no other."""
        allowed = sorted(f"/yes{n}" for n in range(PAGES))
        everything = sorted([*allowed, *(f"/no{n}" for n in range(PAGES))])
        expected: Mapping[str, Any] = {
            name: {"missing": everything, "broken": []}.get(name, allowed) for name in self.by_name
        }
        assert {name: self.pages_asked(name) for name in self.by_name} == expected

    def check(self, result: Result) -> None:
        """Each request has ended once, and the sites have seen the allowed ones, each once."""
        self.check_pages()
        assert result.ended_once(self.urls)
        assert "Traceback" not in result.log
        errors = {error["type"] for error in result.errors.values()}
        assert errors <= {"ForbiddenByRobots", "RobotsUnreachable"}
