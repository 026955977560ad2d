"""UAG-03, UAG-09, GRP-10: what a user-agent line names."""

from __future__ import annotations

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt


@pytest.mark.parametrize(
    ("value", "read"), [("* all", "every crawler"), ("Foo 1.0", '"Foo"'), ("MJ12bot", '"MJ"')]
)
def test_message_says_which_name_is_read(value: str, read: str) -> None:
    """UAG-03, UAG-09: the part of the value that counts."""
    found = RobotsTxt.parse(f"User-agent: {value}\nDisallow: /a/\n".encode()).lint()
    assert [finding.message.endswith(f"reads {read}.") for finding in found] == [True]


def test_crawler_that_a_list_leaves_out_is_named() -> None:
    """GRP-10: erratum 8895 of RFC 9309."""
    (finding,) = RobotsTxt.parse(b"User-agent: GPTBot, CCBot\nDisallow: /\n").lint()
    assert finding.code == "RS203"
    assert '"CCBot" does not follow the group' in finding.message
    listed = b"User-agent: GPTBot, CCBot\nUser-agent: CCBot\nDisallow: /\n"
    assert "CCBot" not in RobotsTxt.parse(listed).lint()[0].message
