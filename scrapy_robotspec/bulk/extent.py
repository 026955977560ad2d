"""Whether a group leaves all, some or nothing of a site open.

The question is decided by examples. The example of a pattern has text that no rule contains in the
place of each ``*``, and at its end unless the pattern is anchored. A rule that matches the example
therefore matches every path that the pattern matches: the pattern's own rule has no effect exactly
if the verdict about its example is the opposite one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.paths import LONE_PERCENT, ROBOTS_TXT
from scrapy_robotspec.protocol.precedence import forbids, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

Extent = Literal["allows all", "denies all", "some"]

#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where a file contains all of them.
_RARE_TEXT = "%F4%8F%BF%BD"


def unused_text(text: bytes) -> str:
    """Text that some rules do not contain, escaped or not."""
    upper = text.upper() if b"%" in text else b""
    return next(
        (each for each in _RARE if each.encode() not in text and b"%%%X" % ord(each) not in upper),
        _RARE_TEXT,
    )


def extent(
    rules: Iterable[RawRule],
    allowed: Callable[[str], bool],
    edition: Edition,
    text: bytes,
    *,
    open_root: bool,
) -> Extent:
    """What a group leaves open; *allowed* gives its verdict for a path.

    ``text``: the lines of the rules. ``open_root``: no rule matches ``/``, so none matches every
    path. ``/robots.txt`` does not count, which is always allowed (PRE-04).
    """
    may_allow = _may_allow(text)
    if not may_allow and open_root:  # as in most files
        return _without_allow(rules, edition)
    unused = unused_text(text)
    usual = open_root or allowed(f"/{unused}")
    if not may_allow:
        return _without_allow(rules, edition) if usual else "denies all"
    for rule in rules:
        for pattern in _patterns(rule, edition, forbidding=usual):
            for path in _examples(pattern, unused):
                if path != ROBOTS_TXT and allowed(path) is not usual:
                    return "some"
    return "allows all" if usual else "denies all"


def _may_allow(text: bytes) -> bool:
    """False only if no rule allows."""
    lowered = text.lower()
    return lowered.count(b"allow") > lowered.count(b"sallow")


def _without_allow(rules: Iterable[RawRule], edition: Edition) -> Extent:
    """The same where no rule allows, nor denies all: each one that forbids has effect."""
    for rule in rules:
        for pattern in _patterns(rule, edition, forbidding=True):
            if pattern != f"{ROBOTS_TXT}$":
                return "some"
    return "allows all"


def _patterns(rule: RawRule, edition: Edition, *, forbidding: bool) -> Iterator[str]:
    """The canonical patterns of a rule, if it forbids or allows as asked."""
    if rule[0] is not forbidding:
        for key, pattern in keyed_patterns([rule], edition):
            if forbids(key) is forbidding:  # a rule without a path may not forbid (RUL-02)
                yield pattern


def _examples(text: str, unused: str) -> Iterator[str]:
    path = text[:-1] if text.endswith("$") else text + unused
    path = path.replace("*", unused).replace(LONE_PERCENT, "%")
    if path.startswith("/"):
        yield path
        return
    if path.startswith(f"{unused}/"):  # the star stands for nothing, too
        yield path[len(unused) :]
    yield f"/{path}"
