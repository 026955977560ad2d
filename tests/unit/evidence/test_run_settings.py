"""The settings of a run survive JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from scrapy_robotspec import EDITIONS, RobotsTxt
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.overrides import HostTable, Override
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.editions import Edition
from scrapy_robotspec.evidence.log_lines import EvidenceError
from scrapy_robotspec.evidence.run_settings import RunSettings
from tests.support.evidence import run_settings


def read_back(settings: RunSettings) -> RunSettings:
    return RunSettings.from_json(json.loads(json.dumps(settings.to_json(), allow_nan=False)))


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=list(EDITIONS))
def test_every_setting_survives(edition: Edition) -> None:
    overrides = {
        "a.example": Override(replacement="ignore"),
        "*.b.example": Override(
            status_policy={429: Meaning.DISALLOW}, token=("x", "y"), crawl_delay=2.5
        ),
    }
    settings = replace(
        run_settings(ttl=5.0, status_policy={404: Meaning.UNREACHABLE}, retry_max_delay=math.pi),
        overrides=HostTable(overrides),
        usage=UsagePolicy(("train-ai",), "require-allowed"),
    )
    settings = replace(settings, policy=replace(settings.policy, edition=edition))
    assert read_back(settings) == settings


def test_an_overriding_robots_txt_survives() -> None:
    body = "User-agent: *\nDisallow: /é\n".encode()
    override = Override(replacement=RobotsTxt.parse(body))
    found = read_back(replace(run_settings(), overrides=HostTable({"a.example": override})))
    (kept,) = found.overrides.values()
    assert isinstance(kept.replacement, RobotsTxt)
    assert kept.replacement.body == body


def test_an_override_changes_the_policy_of_its_host() -> None:
    table = HostTable({"a.example": Override(status_policy={404: Meaning.DISALLOW})})
    settings = replace(run_settings(status_policy={429: Meaning.ALLOW}), overrides=table)
    for host, expected in (("a", {404, 429}), ("b", {429})):
        origin = Origin.of(f"https://{host}.example/")
        assert origin is not None
        assert set(settings.policy_of(origin).status_policy) == expected


@pytest.mark.parametrize("size", [-1, 2**26 + 1, math.inf, math.nan, "9", None, True])
def test_a_parsing_limit_is_a_number_up_to_a_bound(size: object) -> None:
    """SAF-05: it bounds what a record may unpack to."""
    with pytest.raises(EvidenceError, match="max_size"):
        RunSettings.from_json({**run_settings().to_json(), "max_size": size})
