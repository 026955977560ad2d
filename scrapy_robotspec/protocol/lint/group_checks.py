"""Checks of groups, and of a whole file (GRP, UAG)."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice, pairwise, tee
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.agent_index import index_agents
from scrapy_robotspec.protocol.agents import named_agent
from scrapy_robotspec.protocol.extent import path_of_pattern
from scrapy_robotspec.protocol.groups import STRUCTURE, AllGroups, RawGroup
from scrapy_robotspec.protocol.lines import (
    BYTE_ORDER_MARK,
    SECONDS,
    Line,
    skip_byte_order_mark,
)
from scrapy_robotspec.protocol.lint.effects import UNKNOWN, Effects
from scrapy_robotspec.protocol.lint.findings import Faults, shown
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS, decode
from scrapy_robotspec.protocol.precedence import forbids, line_start
from scrapy_robotspec.protocol.usage import USAGE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


#: How the group of ``*`` has to be: open, at least in parts, or closed.
Expected = Literal["open", "closed"]
#: Codes and severities of findings that say that it is not so.
UNEXPECTED = {("RS216", "error"), ("RS217", "error")}

#: Paths that match every URL.
EVERYTHING = (b"/", b"/*", b"*")
#: Fields of lines that hold for the crawlers named above them, as rules do.
_GROUP_FIELDS = ("crawl-delay", "request-rate", "visit-time", "content-usage")
#: Crawlers that a message names.
_MOST_NAMED = 5
#: Max names above a crawl delay that are compared with those above others.
_MOST_COMPARED = 20
#: A path without wildcards whose last name may be that of a directory.
_DIRECTORY = re.compile(rb"/(?:[^*$?]*/)?[^*$?/.=&]+")
_AUTHORITY = re.compile(r"(?i)\Ahttps?://[^/?#]*")


def check_groups(effects: Effects) -> Faults:
    """Check groups as a whole."""
    groups, edition = effects.groups, effects.edition
    for group in groups:
        for above, line in group.parted:
            effect = effects.of_crawler(named_agent(above.value, edition) or None)
            fault = "No rule stands between this user-agent line and the last"
            more = "" if effect == UNKNOWN else f", and {effect}"
            yield line, "RS208", fault, f"reads one group{more}"
        if (crawler := group.crawler) and not group.rules:
            yield group.agents[0], "RS206", "The group has no rules", effects.of_crawler(crawler)
    yield from _check_opened(effects)
    yield from _check_opened_wide(effects)
    if edition.other_fields:
        yield from _check_delays(groups)
    yield from _check_contraries(effects)
    yield from _check_directories(effects)


def check_outside(lines: Iterable[Line], edition: Edition) -> Faults:
    """Check lines that belong into a group, and are outside (GRP-05)."""
    needed = _GROUP_FIELDS if edition.other_fields else ("content-usage",)
    for line in lines:
        is_rule = line.field in STRUCTURE
        if is_rule or line.field in needed:
            fault = f"No user-agent line is above this {'rule' if is_rule else 'line'}"
            yield line, "RS201", fault, "ignores it"


def _check_opened(effects: Effects) -> Faults:
    """Groups that allow what the group of ``*``, which they replace, disallows (UAG-05).

    A group without any bound is meant so, and so is one on a site that is closed to all others.
    """
    default = effects.default
    closed = default.exceptions()
    for crawler, group, rules in effects.combined if not forbids(default.root) else ():
        if default.disallowed <= rules.disallowed and rules.allowed <= default.allowed:
            continue  # it can open nothing, so its patterns are not made
        if group.keys[0] in POLICY_TOKENS or rules.extent != "some":
            continue
        closed, paths = tee(closed)
        path = next((each for each in paths if rules.allows(each) is not False), None)
        if path is not None and rules.allows(path):  # not beyond the bound
            fault = f'{shown(crawler)} may fetch {shown(path)}, which "*" may not'
            effect = 'follows the crawler\'s own group instead of that of "*"'
            yield group.agents[0], "RS215", fault, effect


def _check_opened_wide(effects: Effects) -> Faults:
    """Crawlers whose groups allow everything on a site that is closed in parts (UAG-05)."""
    default = effects.default
    opened: dict[str, tuple[str, Line]] = {}  # names and lines by key
    for group in effects.groups:
        if any(line.field == "allow" and line.value in EVERYTHING for line in group.rules):
            for key, name in group.firsts.items():
                rules = effects.followed_by(name)
                if _is_crawler(name) and rules is not None and not any(rules.disallowed):
                    opened.setdefault(key, (name, group.agents[0]))
    path = default.exception if opened and not forbids(default.root) else None
    if path is not None:
        names, lines = zip(*opened.values(), strict=True)
        fault = f'{counted(names)} may fetch {shown(path)}, which "*" may not'
        yield lines[0], "RS218", fault, "follows their own groups"


def check_reach(every: AllGroups, effects: Effects) -> Faults:
    """Usage statements that do not reach all crawlers (EXT-01)."""
    stated: dict[str, Line] = {}
    for group in every.groups:
        lines = [each for each in group.others if each.line.field in USAGE_FIELDS]
        if lines:
            begin = min(each.agents_before for each in lines)
            for key in group.keys[begin : lines[-1].agents_above]:
                stated.setdefault(key, lines[0].line)
    if not stated or every.signals:  # these hold for all
        return
    line, last = stated.get(DEFAULT), every.groups[-1]
    if line is not None:
        names = (name for key, (name, _) in every.places.items() if key not in stated)
        missed = [name for name in names if _is_crawler(name) and effects.is_open(name)]
        if missed:
            fault = f"The statement does not reach {counted(missed)} with groups of their own"
            yield line, "RS509", fault, 'reads it for those that follow "*"'
    elif {*stated} <= {*last.keys} and effects.is_open(DEFAULT):
        line = next(iter(stated.values()))
        if last.blank < line.start and last.rules and last.rules[-1] < line:
            fault = "The statement stands behind the last group, and belongs to it"
            yield line, "RS509", fault, f"reads it for {counted(stated)} alone"


def _is_crawler(name: str) -> bool:
    """Whether a name is a single crawler's."""
    return name not in ("", DEFAULT) and name.lower() not in POLICY_TOKENS


def counted(names: Collection[str]) -> str:
    """The number of crawlers, and the first of them."""
    number, first = len(names), ", ".join(map(shown, islice(names, _MOST_NAMED)))
    more = f" and {number - _MOST_NAMED} more" if number > _MOST_NAMED else ""
    return f"{number} crawler{'' if number == 1 else 's'} ({first}{more})"


def _check_delays(groups: Sequence[RawGroup]) -> Faults:
    """Crawl delays of one crawler that differ (EXT-01)."""
    first: dict[str, Line] = {}  # by key
    for group in groups:
        for line, above, _ in group.others:
            if line.field == "crawl-delay" and SECONDS.fullmatch(line.value):  # not ignored
                keys = group.keys[max(above - _MOST_COMPARED, 0) : above]
                stated = [first.setdefault(key, line) for key in keys]
                other = next((each for each in stated if each.value != line.value), None)
                if other is not None:
                    fault = f"Line {other.number} states another crawl-delay for the same crawler"
                    yield line, "RS406", fault, "offers the greatest"


def _check_contraries(effects: Effects) -> Faults:
    """Rules for the same crawlers that contradict one another (PRE-02)."""
    found: dict[Line, tuple[Line, str]] = {}
    for crawler, _, rules in effects.combined:
        first: dict[tuple[bool, str], int] = {}
        for key, pattern in rules.keyed if rules.allowed else ():
            first.setdefault((forbids(key), pattern), key)
            contrary = first.get((not forbids(key), pattern))
            if contrary is not None and pattern:
                effect = effects.of_path(crawler, path_of_pattern(pattern))
                found[effects.lines[line_start(key)]] = effects.lines[line_start(contrary)], effect
    for line, (other, effect) in found.items():
        yield line, "RS304", f"Line {other.number} {other.field}s the same path", effect


def _check_directories(effects: Effects) -> Faults:
    """Directories without a slash at the end (EXT-04).

    Paths inside them show that they are directories."""
    first_lines = {line.value: line for line in reversed(effects.rules)}
    paths = sorted(first_lines)
    begun = (path for path, next_ in pairwise(paths) if next_.startswith(path))
    directories = filter(_DIRECTORY.fullmatch, begun)
    inside = (path for path in directories if _any_begins(paths, path + b"/"))
    for line in sorted(map(first_lines.__getitem__, inside)):
        longer = shown(line.value.rpartition(b"/")[2] + b".html")
        yield line, "RS901", f"The path also matches {longer}", "compares beginnings"


def check_allow(effects: Effects) -> Faults:
    """Groups that allow paths and close nothing (EXT-04)."""
    disallows = any(line.field == "disallow" and line.value for line in effects.rules)
    for crawler, _, rules in effects.combined:
        if rules.disallowed - {b""} or rules.extent != "allows all":
            continue
        paths = [effects.lines[start] for _, value, start in rules.rules if value]
        wide = [line for line in paths if line.value in EVERYTHING]
        if not wide and paths and paths[0].value.startswith((b"/", b"*")):
            fault = "The group disallows nothing, so the rest of the site is open, too"
            yield paths[0], "RS319", fault, effects.of_crawler(crawler)
        elif wide and not disallows:
            fault = "Nothing is disallowed, so Allow has no effect"
            # Rules behind a blank line belong to no group here, and to this one in other editions.
            is_alone = len(rules.rules) == 1 and not effects.edition.blank_line_ends_group
            better = "Disallow:" if is_alone else None
            yield wide[0], "RS902", fault, effects.of_crawler(crawler), better


def check_closed(effects: Effects, expected: Expected | None) -> Faults:
    """Whether the group of ``*`` disallows every page, and may."""
    rules = effects.default
    is_open = not forbids(rules.root)  # mostly
    if not is_open and rules.extent == "denies all":
        line = effects.lines[line_start(rules.root)]
        fault = "The site is closed to crawlers without a group of their own"
        yield line, "RS216", fault, effects.of_crawler(DEFAULT)
    elif expected == "closed":
        path = "/" if is_open else rules.exception
        unknown = "Too many wildcards hide whether the site is closed"
        fault = f'"*" may fetch {shown(path)}' if path else unknown
        yield None, "RS217", fault, effects.of_crawler(DEFAULT)


def check_sitemaps(sitemaps: Sequence[Line], effects: Effects) -> Faults:
    """Sitemaps that the group of ``*`` disallows, unless it disallows every page."""
    rules = effects.default
    for line in sitemaps:
        path = _AUTHORITY.sub("", decode(line.value))
        if path.startswith("/") and rules.allows(path) is False and rules.extent == "some":
            yield line, "RS405", "The sitemap is disallowed", effects.of_path(DEFAULT, path)


def _any_begins(paths: Sequence[bytes], prefix: bytes) -> bool:
    """Whether any of the sorted paths begins with *prefix*."""
    at = bisect_left(paths, prefix)
    return at < len(paths) and paths[at].startswith(prefix)


# --- rules that no edition needs
#
# A rule can go when an earlier line holds the same rule for the same crawlers, or when it has no
# path and its group has other rules. Three conditions keep that safe:
#
# - Every edition reads the file's lines alike: :func:`are_read_alike`.
# - A group keeps one of its rules. Without any, its user-agent lines would join the next group.
# - Rules of two groups are compared only if both groups are written without blank lines, which end
#   a group in one edition.

_LENIENT = EDITIONS["google"]

#: Kind and value of a rule, as written.
_Rule = tuple[str, bytes]


def are_read_alike(body: bytes, edition: Edition) -> bool:
    """Whether all editions read a file's groups and rules alike.

    They do if a search for plain ones finds all that the most lenient edition reads.
    """
    # A part of a byte order mark is skipped by some editions only.
    begins_alike = skip_byte_order_mark(body, _LENIENT) in (0, len(BYTE_ORDER_MARK))
    return begins_alike and all(index_agents(body, each) for each in (edition, _LENIENT))


def find_redundant(groups: Iterable[RawGroup]) -> Faults:
    """The rules that can be deleted, all of them together."""
    seen: dict[tuple[bytes, ...], dict[_Rule, int]] = {}  # numbers of first lines, by names
    joins = False  # the group above, in most editions: it has no rules
    for group in groups:
        names = tuple(sorted(line.value for line in group.agents))
        known = {} if joins else seen.setdefault(names, {})
        in_group: dict[_Rule, int] = {}
        found: list[tuple[Line, str, str, str, str]] = []
        for line in group.rules:
            rule, number = (line.field, line.value), line.number
            first = in_group.setdefault(rule, number)
            if first == number and line.start < group.blank:
                first = known.setdefault(rule, number)
            if not line.value:
                fault = "A rule without a path has no effect here"
                found.append((line, "RS307", fault, "ignores it", ""))
            elif first != number:
                fault = f"Line {first} holds the same rule"
                found.append((line, "RS303", fault, "does not need this one", ""))
        yield from found[len(found) == len(group.rules) :]  # one of the rules has to stay
        joins = not group.rules
