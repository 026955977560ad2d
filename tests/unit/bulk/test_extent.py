"""The class of a group is worked out from few of its rules, where these show it."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.bulk import batches
from scrapy_robotspec.bulk.batches import extent_of
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import extent as protocol_extent
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.precedence import keyed_patterns
from scrapy_robotspec.protocol.robots_file import RobotsFile
from scrapy_robotspec.protocol.ruleset import RuleSet
from tests.unit.protocol.test_extent import rules


@pytest.mark.parametrize("name", EDITIONS)
@given(rules=rules, few=st.integers(0, 3))
def test_few_rules_show_what_all_do(name: str, rules: list[tuple[str, str]], few: int) -> None:
    """The class is that of all rules, however many are tried first."""
    edition = EDITIONS[name]
    text = ("User-agent: *\n" + "".join(f"{kind}: {path}\n" for kind, path in rules)).encode()
    every = RobotsFile(text, edition).follow(()).rules.rules
    with patch.object(batches, "_FEW", few):
        batches._extent_once.cache_clear()
        assert extent_of(every, edition) == Rules(every, edition).extent
    batches._extent_once.cache_clear()


def test_a_long_group_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: an exception among the first rules is enough."""
    compiled: list[int] = []

    def counted(*arguments: object) -> object:
        compiled.append(len(arguments[0]))  # type: ignore[arg-type]
        return keyed_patterns(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(protocol_extent, "keyed_patterns", counted)
    lines = "".join(f"Disallow: /d{number}/\n" for number in range(1_000))
    text = f"User-agent: *\nAllow: /d\n{lines}Allow: /e\n".encode()
    edition = EDITIONS["google-2019"]
    every = RobotsFile(text, edition).follow(()).rules.rules
    assert extent_of(every, edition) == "some"
    assert compiled == [batches._FEW + 1]


def test_wildcards_that_are_tried_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: each rule is overruled by one that is tried last."""
    asked: list[str] = []
    find = RuleSet.find

    def counted(rules: RuleSet, url: str | bytes) -> int:
        asked.append(str(url))
        return find(rules, url)

    monkeypatch.setattr(RuleSet, "find", counted)
    monkeypatch.setattr(protocol_extent, "MOST_TRIED", 20_000)
    lines = "".join(
        f"Allow: /*common*k{number}\nDisallow: /*common*failing*k{number}\n"
        for number in range(500)
    )
    text = f"User-agent: *\nDisallow: /\nDisallow: /*******common\n{lines}".encode()
    edition = EDITIONS["google-2019"]
    every = RobotsFile(text, edition).follow(()).rules.rules
    assert extent_of(every, edition) == "some"  # what is not known to be closed
    assert len(asked) < 60
