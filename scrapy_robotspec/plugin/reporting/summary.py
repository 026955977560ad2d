"""Summary: counts of a crawl, and their table for its log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.account import answer_in_words
from scrapy_robotspec.access.reasons import OUTCOMES, Group, failure_words
from scrapy_robotspec.render.text import columns, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.access.account import RequestCounts
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max lines of the table of one kind.
TOP = 5
#: Max rules that are counted one by one; the rarest are dropped first.
RULES_COUNTED = 1000
#: Max origins that are remembered, of those that are unreachable and of those with a delay.
ORIGINS_COUNTED = 10_000
#: Max stored length of a rule or a URL (characters).
MAX_TEXT = 200

#: Groups that are shown without a request, too.
_ALWAYS = (Group.LET_THROUGH, Group.REFUSED)
#: Outcomes that let a request through against the rules, or without an answer.
_UNUSUAL = ("override", "unreachable")

#: A rule as it is counted: origin, line number, beginning of the line.
_Rule = tuple["Origin", int, str]


class Summary:
    """Counts of one crawl, whose memory does not grow with it."""

    def __init__(self) -> None:
        self._origins: Counter[str] = Counter()
        """Origins by the result of their latest attempt."""
        self._down: dict[Origin, str] = {}
        self._rules: Counter[_Rule] = Counter()

    # --- events

    def fetched(self, record: RobotsRecord, before: RobotsRecord | None) -> None:
        """An attempt turned *before* into *record*."""
        if before is not None and self._origins[answer_in_words(before)]:
            self._origins[answer_in_words(before)] -= 1
        self._origins[answer_in_words(record)] += 1
        if not record.has_failed:
            self._down.pop(record.origin, None)
        elif record.origin in self._down or len(self._down) < ORIGINS_COUNTED:
            self._down[record.origin] = failure_words(record.failure)

    def refused(self, decision: Decision) -> None:
        """A request was refused."""
        line, text, _ = deciding_line(decision)
        if line is not None and text is not None and decision.origin is not None:
            self._rules[decision.origin, line, text] += 1
            if len(self._rules) > 2 * RULES_COUNTED:
                self._rules = Counter(dict(self._rules.most_common(RULES_COUNTED)))

    # --- output

    def table(
        self,
        requests: RequestCounts,
        pending: Sequence[tuple[Origin, float]],
        stats: Mapping[str, Any],
    ) -> str:
        """The summary of the crawl, a few lines of text.

        *pending*: origins without an answer so far, each with its age in seconds. *stats*: those of
        Scrapy.
        """
        waits = [f"{duration(seconds):>8}  {origin}" for origin, seconds in pending]
        down = [f"{origin}: {failure}" for origin, failure in self._down.items()]
        rules = [
            f"{number:>8,}  {origin} line {line}: {safe(text.strip())}"
            for (origin, line, text), number in self._rules.most_common(TOP)
        ]
        silent = sum(origin not in self._down for origin, _ in pending)
        origins = Counter({**self._origins, "without an answer so far": silent})
        rows = [
            ("origins", f"{origins.total():,}{in_brackets(origins.most_common())}"),
            ("requests", request_words(requests)),
            *_counted("overrides", "robotspec/override/", stats),
            *_counted("usage", "robotspec/usage/", stats),
            *_named("still pending", waits),
            *_named("still unreachable", down),
            *_named("refused most", rules),
        ]
        return "\n".join(columns(rows))


def request_words(requests: RequestCounts) -> str:
    """``3 let through, 1 refused (1 by a rule)``."""
    groups = (group for group in Group if requests.of(group) or group in _ALWAYS)
    parts = [_group_words(group, requests) for group in groups]
    if requests.not_sent:
        parts.append(f"{requests.not_sent:,} not sent")
    return ", ".join(parts)


def _group_words(group: Group, requests: RequestCounts) -> str:
    kinds = {name: row.short for name, row in OUTCOMES.items() if row.group is group}
    words = [(short, requests.by_outcome[name]) for name, short in kinds.items()]
    if group is Group.REFUSED:
        words.append(("of them after sending", requests.after_sending))
    shown = in_brackets(words)
    if len(kinds) == 1:
        shown = f" ({words[0][0]})"
    elif group is Group.LET_THROUGH and not any(requests.by_outcome[name] for name in _UNUSUAL):
        shown = ""
    return f"{requests.of(group):,} {group.value}{shown}"


def in_brackets(kinds: Iterable[tuple[str, int]]) -> str:
    """The numbers above 0 in brackets; empty if there are none."""
    parts = ", ".join(f"{number:,} {words}" for words, number in kinds if number)
    return f" ({parts})" if parts else ""


def _counted(title: str, prefix: str, stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The stats whose names begin with *prefix*, on one line."""
    names = sorted(name for name in stats if name.startswith(prefix))
    if names:
        yield title, ", ".join(f"{stats[name]:,} {name.removeprefix(prefix)}" for name in names)


def _named(title: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The first of *lines* as rows, and the number of the others."""
    for at, line in enumerate(lines[:TOP]):
        yield "" if at else title, line
    if len(lines) > TOP:
        yield "", f"and {len(lines) - TOP:,} more"


def deciding_line(decision: Decision) -> tuple[int | None, str | None, str | None]:
    """Number, text and path pattern of the deciding line, cut."""
    if decision.usage is not None:
        from scrapy_robotspec.access.usage_policy import as_written

        statement = decision.usage.statement
        return decision.usage.line, None if statement is None else cut(as_written(statement)), None
    rule = decision.verdict.rule if decision.verdict is not None else None
    return (None, None, None) if rule is None else (rule.line, cut(rule.text), cut(rule.pattern))


def cut(text: str) -> str:
    """*text*, at most :data:`MAX_TEXT` characters of it."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
