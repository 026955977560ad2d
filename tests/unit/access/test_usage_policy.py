"""When a page is refused for its usage preferences, and what the refusal says (USE-05)."""

from __future__ import annotations

import pytest

from scrapy_robotspec import Usage
from scrapy_robotspec.access.usage_policy import (
    KNOWN_LABELS,
    PolicyName,
    UsagePolicy,
    UsageRefusal,
    doubt_about,
)

NOTHING = Usage()
ALLOWED = Usage.from_header("train-ai=y")
DISALLOWED = Usage.from_header("train-ai=n")
OTHER = Usage.from_header("search=n")


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("usage", [NOTHING, ALLOWED, DISALLOWED, OTHER])
@pytest.mark.parametrize(
    "policy", [UsagePolicy(("train-ai",), "record"), UsagePolicy((), "require-allowed")]
)
def test_nothing_is_refused_without_labels_or_a_policy(
    policy: UsagePolicy, usage: Usage, final: bool
) -> None:
    assert policy.refusal(usage, final=final) is None


@pytest.mark.parametrize(
    ("name", "usage", "before_download", "before_spider"),
    [
        ("refuse-disallowed", NOTHING, False, False),
        ("refuse-disallowed", ALLOWED, False, False),
        ("refuse-disallowed", DISALLOWED, True, True),
        ("refuse-disallowed", OTHER, False, False),
        ("require-allowed", NOTHING, False, True),
        ("require-allowed", ALLOWED, False, False),
        ("require-allowed", DISALLOWED, True, True),
        ("require-allowed", OTHER, False, True),
    ],
)
def test_page_is_refused_as_soon_as_no_header_can_allow_it(
    name: PolicyName, usage: Usage, before_download: bool, before_spider: bool
) -> None:
    policy = UsagePolicy(("train-ai",), name)
    assert (policy.refusal(usage, final=False) is not None) is before_download
    assert (policy.refusal(usage, final=True) is not None) is before_spider


def test_one_unknown_label_of_several_refuses_where_all_must_be_allowed() -> None:
    policy = UsagePolicy(("search", "train-ai"), "require-allowed")
    refusal = policy.refusal(Usage.from_header("search=y"), final=True)
    assert refusal == UsageRefusal("train-ai")
    assert policy.refusal(Usage.from_header("search=y, train-ai=y"), final=True) is None


def test_detail_of_a_header_and_of_nothing() -> None:
    policy = UsagePolicy(("train-ai",), "require-allowed")
    by_header = policy.refusal(DISALLOWED, final=True)
    by_nothing = policy.refusal(OTHER, final=True)
    assert by_header is not None
    assert by_nothing is not None
    assert (by_header.line, by_nothing.line) == (None, None)
    assert by_header.detail == (
        "train-ai is disallowed by the response header: 'Content-Usage: train-ai=n'"
    )
    assert by_nothing.detail == "train-ai is unknown: no statement allows it"
    long = Usage.from_header("train-ai=n, " + ", ".join(f"a{i}=y" for i in range(100_000)))
    by_long = policy.refusal(long, final=True)
    assert by_long is not None
    assert len(by_long.detail) < 200


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("train_ai", "train-ai"),
        ("ai-train", "train-ai"),
        ("input.ai", "ai-input"),
        ("training", "train-ai"),
        ("Train-AI", "train-ai"),
        ("searching", "search"),
        ("x", None),
        ("", None),
    ],
)
def test_an_unknown_label_resembles_a_known_one(label: str, meant: str | None) -> None:
    """USE-05: it would refuse nothing."""
    doubt = doubt_about(label)
    assert doubt is not None
    assert ("is probably meant" in doubt) is (meant is not None)
    assert meant is None or f"{meant!r} is probably meant" in doubt


def test_known_labels_are_beyond_doubt() -> None:
    assert not any(map(doubt_about, KNOWN_LABELS))
