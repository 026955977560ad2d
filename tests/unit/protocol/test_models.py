"""Texts of a file as a person sees them (FMT-04)."""

from __future__ import annotations

import pickle

import pytest

from scrapy_robotspec.protocol.models import Rule, Verdict, decode


@pytest.mark.parametrize(
    ("text", "shown"), [(b"/\xc3\xa9", "/é"), (b"/\xe9", "/\\xe9"), (b"\x1b[0m", "\x1b[0m")]
)
def test_bytes_that_are_not_utf_8_are_shown_as_escapes(text: bytes, shown: str) -> None:
    """FMT-04: nothing is lost, and nothing raises."""
    assert decode(text) == shown


def test_verdicts_are_values() -> None:
    """EXT-02: equal, hashable, the same in another process."""
    rule = Rule("disallow", "/a", 2, "Disallow: /a")
    verdict = Verdict(False, "rule", rule, ("*",), "google-2019")
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert hash(verdict) == hash(Verdict(False, "rule", rule, ("*",), "google-2019"))
