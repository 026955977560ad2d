"""A question to a file and its answer, ready to be shown.

The verdicts are the protocol's; here they are gathered and put into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import DEFAULT, decode
from scrapy_robotspec.protocol.paths import path_of
from scrapy_robotspec.show.text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.show.book import Followed


@dataclass(frozen=True, slots=True)
class Answer:
    """What a file says to one crawler about one URL."""

    url: str
    """As asked, decoded for a person."""
    path: str
    """Path and query in the form that the rules are compared with."""
    tokens: tuple[str, ...]
    """The crawler's product tokens; none for a crawler that no group names."""
    verdict: Verdict
    matches: tuple[Rule, ...]
    """Every rule that matches, the deciding one first; none where nobody asked for them."""

    @property
    def losing(self) -> tuple[Rule, ...]:
        """The rules that match and do not decide."""
        rule = self.verdict.rule
        return self.matches[1:] if rule is not None else self.matches


def answer(robots: RobotsTxt, url: bytes, tokens: Sequence[str], *, matches: bool = True) -> Answer:
    """The answer to one question; ``url`` is a URL or a path.

    Without ``matches`` only the rule that decides is looked for, which is much faster.
    """
    return Answer(
        url=decode(url),
        path=path_of(url, robots.edition),
        tokens=tuple(tokens),
        verdict=robots.explain(url, tokens),
        matches=robots.matches(url, tokens) if matches else (),
    )


def crawler_words(tokens: Sequence[str]) -> str:
    """The crawler asked for."""
    return ", then ".join(map(safe, tokens)) if tokens else "any other crawler"


def group_words(found: Followed) -> str:
    """The group followed and why (UAG-01, UAG-05)."""
    if not found.names:
        nobody = "no group names it" if found.tokens else "no group is for everybody"
        return f"none: {nobody}, so nothing is forbidden"
    lines = listed([str(line) for line in found.first_lines[:10]])
    at = f"from line {lines}" if len(found.first_lines) == 1 else f"combined from lines {lines}"
    if found.names == (DEFAULT,):
        why = "the group for everybody" if not found.tokens else "no group names the crawler"
        return f"* ({at}): {why}"
    return f"{safe(', '.join(found.names))} ({at}): the most specific name that matches"


def reason_words(verdict: Verdict) -> str:
    """Why the verdict is what it is, in a few words."""
    rule = verdict.rule
    if rule is not None:
        return f"line {rule.line}: {safe(rule.text.strip())}"
    return {
        "no_rule": "no rule of the group matches",
        "no_group": "no group applies",
        "robots_txt_itself": "/robots.txt itself may always be asked for",
        "rule": "",
    }[verdict.reason]


def matches_words(found: Answer) -> str:
    """How the deciding rule came to decide (PRE-01, PRE-02)."""
    rule = found.verdict.rule
    if rule is None:
        return reason_words(found.verdict)
    if not rule.pattern:
        return "a rule without a path forbids nothing"
    if not found.losing:
        return "the only rule that matches"
    longest = f"the longest of {len(found.matches):,} rules that match"
    if all(other.kind == rule.kind for other in found.losing):
        return f"{longest}, all of one kind"
    return f"{longest}; of equally long ones an allow"
