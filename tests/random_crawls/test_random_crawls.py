"""Random crawls, each judged by every law.

``ROBOTSPEC_SEEDS="17 4711"`` repeats the crawls of these seeds; ``ROBOTSPEC_PROFILE=long`` tries
hundreds of fresh ones.
"""

from __future__ import annotations

import os
import random
from itertools import islice

import pytest

from tests.random_crawls.history import crawl
from tests.random_crawls.laws import LAWS

SEEDS = list(range(20))
if os.environ.get("ROBOTSPEC_PROFILE") == "long":
    SEEDS = random.sample(range(10**6), 300)
if given := os.environ.get("ROBOTSPEC_SEEDS"):
    SEEDS = [int(seed) for seed in given.split()]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_law_is_broken(seed: int) -> None:
    """Sites, settings, queues, tokens, middlewares, signals and resumes of all kinds."""
    with crawl(seed) as history:
        broken = [f"{law.__name__}: {each}" for law in LAWS for each in islice(law(history), 5)]
        print(history.plan, *(run.result.log for run in history.runs), sep="\n\n")
        print(*history.served, *history.asked, sep="\n")
    assert not broken, "\n".join(broken)
