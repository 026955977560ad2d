"""Finds rules that contradict an earlier one about their path (PRE-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.paths import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line


class Contrary(NamedTuple):
    """A rule, and an earlier one that it contradicts."""

    line: Line
    first: int
    """Number of the first rule that says the contrary."""
    kind: str
    """The kind of that rule."""


def contraries(rules: Sequence[Line], edition: Edition) -> Iterator[Contrary]:
    """The contradictions among rules for the same crawlers, in their order."""
    allow = [line.value for line in rules if line.field == "allow"]
    if not allow or len(allow) == len(rules):  # hot path
        return
    disallow = [line.value for line in rules if line.field != "allow"]
    both = set(_comparable(allow, edition)).intersection(_comparable(disallow, edition))
    if not both:
        return
    places: dict[tuple[str, str], int] = {}
    for line, path in zip(rules, _comparable([line.value for line in rules], edition), strict=True):
        if path in both:
            places.setdefault((line.field, path), line.number)
            contrary = "disallow" if line.field == "allow" else "allow"
            if first := places.get((contrary, path)):
                yield Contrary(line, first, contrary)


def _comparable(values: Sequence[bytes], edition: Edition) -> list[str]:
    """Paths as they are matched, so that their spellings are equal."""
    paths = canonical_text(b"\n".join(values), edition).split("\n")
    if edition.slashless is Slashless.ASSUMED:
        paths = [path if path.startswith("/") else "/" + path for path in paths]
    if edition.wildcards and not edition.count_trailing_star:
        paths = [path.rstrip("*") for path in paths]
    return paths
