"""Meta keys that look like ours: unknown ones are warned of once."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from scrapy_robotspec.plugin.deciding.meta_keys import MetaKeys


def warned(caplog: pytest.LogCaptureFixture, *metas: dict[Any, Any]) -> list[str]:
    keys = MetaKeys()
    for meta in metas:
        if not keys.seen.issuperset(meta):
            keys.check(meta)
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    "key", ["robotspec_token", "robotspec_user_agent_tokens", "ROBOTSPEC_USER_AGENT_TOKEN"]
)
def test_an_unknown_key_is_warned_of_once(key: str, caplog: pytest.LogCaptureFixture) -> None:
    (line,) = warned(caplog, *[{key: "x", f"other-{n}": 1} for n in range(5000)])
    assert repr(key) in line
    assert "'robotspec_user_agent_token'" in line


def test_known_and_foreign_keys_are_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    meta = {"robotspec": {}, "robotspec_user_agent_token": "x", "_robotspec_tokens": 1, 7: 8}
    assert warned(caplog, meta, {"depth": 1, "proxy": "", ("a",): "b"}) == []


def test_a_key_cannot_steer_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    """SAF-04."""
    (line,) = warned(caplog, {"robotspec_\x1b[31m\u202e": 1})
    assert line.isprintable()
