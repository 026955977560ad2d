"""Precedence keys: one integer per rule (PRE-01, PRE-02).

    longest first | allow before disallow | forbids | offset of the rule's line

The deciding rule is the one with the smallest key, and the key contains the verdict and the place
of the rule in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol import google
from scrapy_robotspec.protocol.paths import canonical_text
from scrapy_robotspec.protocol.patterns import END, canonical_pattern, in_components, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import RawRule

#: A precedence key, and the canonical pattern it belongs to.
KeyedPattern = tuple[int, str]

FORBIDS = 1 << 32
_DISALLOW = FORBIDS << 1
LENGTH = _DISALLOW << 1
_OFFSET = FORBIDS - 1

#: The key where no rule matches: greater than any other, and it does not forbid.
NO_RULE = 1 << 62
#: The key for ``/robots.txt`` itself (PRE-04). It does not forbid.
ITSELF = -1 << 34
#: The keys of rules of length 0 on a line at offset 0.
ALLOWS = NO_RULE - LENGTH
DISALLOWS = ALLOWS + _DISALLOW + FORBIDS


def forbids(key: int) -> bool:
    """Whether the rule of a key forbids."""
    return bool(key & FORBIDS)


def line_start(key: int) -> int:
    """Offset of the line of a key's rule in the file."""
    return key & _OFFSET


def keyed_patterns(rules: Sequence[RawRule], edition: Edition) -> Iterator[KeyedPattern]:
    """Patterns of rules with their keys, in file order."""
    joined = canonical_text(b"\n".join([value for _, value, _ in rules]), edition)
    has_rare = "%" in joined or "'" in joined or "**" in joined
    heads = ["/", "*"] if edition.slashless is Slashless.PATTERN else ["/"]
    heads = heads if edition.wildcards and not edition.index_html else []
    counts_star = edition.count_trailing_star
    for (allow, _, start), text in zip(rules, joined.split("\n"), strict=False):  # hot path
        if (
            text[:1] in heads
            and "$" not in text
            and not (has_rare and ("%" in text or "'" in text or "**" in text))
        ):
            key = start + (ALLOWS if allow else DISALLOWS) - len(text) * LENGTH
            if text[-1] == "*":  # PAT-03
                text = text[:-1]
                key += 0 if counts_star else LENGTH
            yield key, text
        else:
            yield from _patterns_of(allow, text, start, edition)


def _patterns_of(allow: bool, text: str, start: int, edition: Edition) -> Iterator[KeyedPattern]:
    """The patterns of the canonical value *text*, usually one (PAT-12, PRE-05)."""
    key = start + (ALLOWS if allow else DISALLOWS)
    texts = [text]
    if allow and edition.index_html and (directory := google.directory_of_index_page(text)):
        texts.append(directory)
    for each in filter(None, texts):
        pattern = canonical_pattern(each, edition)
        if pattern is not None:
            measured = key - pattern[1] * LENGTH
            for spelling in in_components(pattern[0], edition):
                yield measured, spelling
    if not text and edition.empty_rules_decide_line:  # else RUL-02: nothing
        yield key & ~FORBIDS, ""


def matching_keys(rules: Sequence[RawRule], path: str, edition: Edition) -> Iterator[int]:
    """The keys of all rules that match a path, in file order."""
    path += END
    return (key for key, text in keyed_patterns(rules, edition) if matches(text, path))


def best_key(rules: Sequence[RawRule], path: str, edition: Edition) -> int:
    """The key of the deciding rule, or ``NO_RULE``."""
    return min(matching_keys(rules, path, edition), default=NO_RULE)
