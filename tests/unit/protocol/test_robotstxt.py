"""Arguments of a wrong type (SAF-01)."""

from __future__ import annotations

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt


def test_a_url_of_a_wrong_type_leaves_no_answer_behind() -> None:
    """SAF-01: the next crawler of the file is answered as if nothing had happened."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /")
    with pytest.raises(TypeError):
        robots.allowed(None, "a")  # type: ignore[arg-type]
    assert not robots.allowed(b"", "b")


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [(None, "NoneType"), (5, "int"), (b"examplebot", "bytes"), (["examplebot", None], "NoneType")],
)
@pytest.mark.parametrize("ask", ["allowed", "explain", "usage", "crawl_delay", "other"])
def test_tokens_of_a_wrong_type_are_named(ask: str, tokens: object, kind: str) -> None:
    """SAF-01: also by an object that has answered for a right one before."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\nCrawl-delay: 1")
    assert not robots.allowed("/a", "b")
    url = ["/a"] * (ask in ("allowed", "explain", "usage"))
    with pytest.raises(TypeError, match=f"must be str.* not {kind}"):
        getattr(robots, ask)(*url, tokens)
