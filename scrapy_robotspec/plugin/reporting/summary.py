"""The table of a crawl's counts at the end of its log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.access.reasons import ANSWERS, OUTCOMES, Group
from scrapy_robotspec.plugin.reporting.crawl_account import NONE_SO_FAR, OVERRIDDEN, CrawlAccount
from scrapy_robotspec.render.text import REST, columns, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.access.account import RequestCounts
    from scrapy_robotspec.access.origin import Origin

#: Max lines of the table of one kind.
TOP = 5

#: Groups that are shown without a request, too.
_ALWAYS = (Group.LET_THROUGH, Group.REFUSED)
#: Outcomes that let a request through against the rules, or without an answer.
_UNUSUAL = ("override", "unreachable")


def summary(account: CrawlAccount, pending: Sequence[tuple[Origin, float]], silent: int = 0) -> str:
    """The summary of a crawl, a few lines of text.

    *pending*: origins for which requests wait, each with its age in seconds. *silent*: the number
    of those without any answer so far.
    """
    waits = [f"{duration(seconds):>8}  {origin}" for origin, seconds in pending]
    down = [f"{origin}: {failure}" for origin, failure in account.down.items()]
    rules = [
        f"{number:>8,}  {origin} line {line}: {safe(text.strip())}"
        for (origin, line, text), number in account.rules.most_common(TOP)
    ]
    answers = {**account.answers, OVERRIDDEN: len(account.replaced), NONE_SO_FAR: silent}
    origins = Counter(dict(sorted(answers.items())))  # equal numbers by name
    rows = [
        ("origins", f"{origins.total():,}{in_brackets(origins.most_common())}"),
        ("requests", request_words(account.requests())),
        *_counted("overrides", "robotspec/override/", account.of_pages),
        *_counted("usage", "robotspec/usage/", account.of_pages),
        *_counted("errors", "robotspec/error/", account.of_pages),
        *_named("still pending", waits),
        *_named("still unreachable", down, origins[ANSWERS["unreachable"].short]),
        *_named("refused most", rules, len(account.rules)),
    ]
    return "\n".join(columns(rows))


def request_words(requests: RequestCounts) -> str:
    """``3 let through, 1 refused (1 by a rule)``."""
    groups = (group for group in Group if requests.in_group(group) or group in _ALWAYS)
    parts = [_group_words(group, requests) for group in groups]
    if requests.answered:
        parts.append(f"{requests.answered:,} answered by a middleware")
    if requests.not_sent:
        parts.append(f"{requests.not_sent:,} not sent")
    return ", ".join(parts)


def _group_words(group: Group, requests: RequestCounts) -> str:
    words = [
        (row.short, requests.by_outcome[name])
        for name, row in OUTCOMES.items()
        if row.group is group
    ]
    if group is Group.REFUSED:
        words.append(("of them after sending", requests.after_sending))
    shown = in_brackets(words)
    if len(words) == 1:
        shown = f" ({words[0][0]})"
    elif group is Group.LET_THROUGH and not any(requests.by_outcome[name] for name in _UNUSUAL):
        shown = ""
    return f"{requests.in_group(group):,} {group.value}{shown}"


def in_brackets(kinds: Iterable[tuple[str, int]]) -> str:
    """The numbers above 0 in brackets; empty if there are none."""
    parts = ", ".join(f"{number:,} {words}" for words, number in kinds if number)
    return f" ({parts})" if parts else ""


def _counted(title: str, prefix: str, stats: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The *stats* whose names begin with *prefix*, on one line."""
    names = sorted(name for name in stats if name.startswith(prefix))
    if names:
        yield title, ", ".join(f"{stats[name]:,} {name.removeprefix(prefix)}" for name in names)


def _named(title: str, lines: Sequence[str], total: int = 0) -> Iterator[tuple[str, str]]:
    """The first of *lines* as rows, and the number of the others; of *total* if there are more."""
    for at, line in enumerate(lines[:TOP]):
        yield "" if at else title, line
    more = max(total, len(lines)) - TOP
    if more > 0:
        yield "", f"and {more:,} more{REST}"
