"""The answer of the policy: what to do with an origin's requests, and when to ask again.

Only the words are here. How they are found stands in ``policy.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from scrapy_robotspec.access.outcome import Meaning


class Action(Enum):
    """What to do with a request of the origin."""

    RULES = "rules"  #: the rules of the copy decide
    ALLOW = "allow"
    DISALLOW = "disallow"
    WAIT = "wait"  #: nothing is known yet, or a failure may pass soon
    REFUSE = "refuse"  #: unreachable for too long to wait


class Standing(NamedTuple):
    """How an origin stands, and why. There are few, so all origins share them."""

    action: Action
    reason: str
    """``""`` (the rules decide, or we wait for a first answer), ``"unavailable"``,
    ``"unreachable"``, ``"limit_passed"`` or ``"policy"``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the record is to be taken from now on."""

    standing: Standing
    ask: bool
    """An attempt is due: the caller starts one unless one is under way."""
    until: float
    """Ask for a new plan at this time (epoch seconds); inf: only an attempt changes anything."""

    @property
    def action(self) -> Action:
        return self.standing.action

    @property
    def reason(self) -> str:
        return self.standing.reason


#: Nothing usable is known: one attempt has to end first (CAC-05).
ASK_FIRST = Plan(Standing(Action.WAIT, ""), True, math.inf)

#: How an origin stands with a copy that may be relied on.
BY_COPY = {
    Meaning.RULES: Standing(Action.RULES, ""),
    Meaning.ALLOW: Standing(Action.ALLOW, "unavailable"),
    Meaning.DISALLOW: Standing(Action.DISALLOW, "policy"),
}
