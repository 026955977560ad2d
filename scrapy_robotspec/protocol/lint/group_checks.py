"""Checks of groups as a whole (GRP, UAG, PRE-02, EXT-01)."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.extent import path_of_pattern
from scrapy_robotspec.protocol.lint.findings import Claim, Effect, shown
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.patterns import canonical_pattern
from scrapy_robotspec.protocol.precedence import canonical_all, forbids
from scrapy_robotspec.protocol.usage import POLICY_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.effects import Effects
    from scrapy_robotspec.protocol.lint.findings import Findings
    from scrapy_robotspec.protocol.lint.group_reader import Group

#: Paths that match every URL.
EVERYTHING = (b"/", b"/*", b"*")
#: Max questions whether groups allow a path that the group of ``*`` disallows.
MOST_ASKED = 100_000


def check_groups(groups: Sequence[Group], effects: Effects, findings: Findings) -> None:
    """Check groups as a whole."""
    has_more = sum(group.default is not None for group in groups) > 1
    for group in groups:
        if group.crawler and not group.rules:
            effect = effects.of_crawler(group.crawler)
            findings.add(group.first, "RS206", "The group has no rules", effect)
        if findings.edition.whole_agent_names and group.default and len(group.keys) > 1:
            fault = "The group names * and others"
            findings.add(group.first, "RS207", fault, "ignores the others")
        closes = (each.field == "disallow" and each.value in EVERYTHING for each in group.rules)
        if group.glued is not None and any(closes):  # GRP-01, UAG-05
            fault = 'The "Disallow: /" of the next name holds for "*", too'
            code = "RS213" if has_more else "RS212"
            findings.add(group.glued, code, fault, effects.of_crawler(DEFAULT))
    _check_opened(groups, effects, findings)
    _check_delays(groups, findings)
    _check_contraries(groups, effects, findings)


def _check_opened(groups: Sequence[Group], effects: Effects, findings: Findings) -> None:
    """Groups that allow what the group of ``*``, which they replace, disallows (UAG-05).

    A group without any bound is meant so, and so is one on a site that is closed to all others.
    """
    default = effects.default
    closed: list[str] = []
    others = default.exceptions()
    left, seen = MOST_ASKED, {default}
    for group in groups if not forbids(default.root) else ():
        rules = effects.rules_of(group.crawler)
        if group.crawler is None or rules is None or rules in seen or rules.extent != "some":
            continue
        seen.add(rules)
        for path in islice(chain(closed, _collected(others, closed)), left):
            left -= 1
            if rules.allows(path) and group.keys[0] not in POLICY_TOKENS:
                claims = (Claim(group.crawler, path, True), Claim(DEFAULT, path, False))
                fault = f'{shown(group.crawler)} may fetch {shown(path)}, which "*" may not'
                effect = Effect('follows the crawler\'s own group instead of that of "*"', claims)
                findings.add(group.first, "RS215", fault, effect)
                break


def _collected(paths: Iterator[str], collection: list[str]) -> Iterator[str]:
    """The paths, each appended to a list when it is asked for."""
    for path in paths:
        collection.append(path)
        yield path


def _check_delays(groups: Sequence[Group], findings: Findings) -> None:
    """Crawl delays of one crawler that differ (EXT-01)."""
    first: dict[str, Line] = {}  # by key
    for group in groups:
        above, begin = None, 0
        for line, end in group.delays:
            keys = group.keys[begin:end]
            above = above or next((first[key] for key in keys if key in first), None)
            if above is not None and above.value != line.value:
                fault = f"Line {above.number} states another crawl-delay for the same crawler"
                findings.add(line, "RS406", fault, "offers the greatest")
            for key in keys:
                first.setdefault(key, line)
            above, begin = line, end


def _check_contraries(groups: Sequence[Group], effects: Effects, findings: Findings) -> None:
    """Rules for the same crawlers that contradict one another (PRE-02)."""
    alike: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        alike.setdefault(tuple(sorted(group.keys)), []).append(group)
    for some in alike.values():
        rules = [rule for group in some for rule in group.rules if rule.value]
        for line, first, pattern in _contraries(rules, findings.edition):
            effect = effects.of_path(some[0].crawler, path_of_pattern(pattern))
            kind = "disallow" if line.field == "allow" else "allow"
            findings.add(line, "RS304", f"Line {first} {kind}s the same path", effect)


def _contraries(rules: Sequence[Line], edition: Edition) -> Iterator[tuple[Line, int, str]]:
    """Rules, the number of the first one that each contradicts, and their pattern."""
    allowing = sum(line.field == "allow" for line in rules)
    if not 0 < allowing < len(rules):  # hot path
        return
    places: dict[tuple[str, str], int] = {}
    paths = canonical_all([line.value for line in rules], edition)
    for line, path in zip(rules, paths, strict=True):
        pattern = (canonical_pattern(path, edition) or (path,))[0]  # or one that never matches
        places.setdefault((line.field, pattern), line.number)
        contrary = "disallow" if line.field == "allow" else "allow"
        if first := places.get((contrary, pattern)):
            yield line, first, pattern
