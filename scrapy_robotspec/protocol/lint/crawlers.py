"""Names of crawlers: well-known ones, their misspellings, and crawlers that ignore robots.txt.

They are data, in ``crawlers.json``. Product tokens are those that the operators document. Sources
of ``ignoring``:

- Google, "User-triggered fetchers": Feedfetcher, Publisher Center, Read Aloud, Site Verifier
- OpenAI, "Overview of OpenAI crawlers" (December 2025): ChatGPT-User
- Perplexity, "Perplexity crawlers": Perplexity-User
- Meta, "Meta web crawlers": Meta-ExternalFetcher
- Google, "Special-case crawlers" (``ignoring_default``): AdsBot, AdSense, APIs-Google
- robotstxt.org, "Can I block just bad robots?": collectors of e-mail addresses
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch, Edition
from scrapy_robotspec.protocol.lint.findings import read_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_DATA = read_data("crawlers.json")

#: Lower-case names of crawlers that ignore robots.txt, and how they do so; names of those that
#: follow no group ``*``, and who says so.
IGNORING, IGNORING_DEFAULT = (
    {name: words for words, names in _DATA[key].items() for name in names}
    for key in ("ignoring", "ignoring_default")
)
#: Product tokens of well-known crawlers.
KNOWN_CRAWLERS: tuple[str, ...] = tuple(_DATA["known"])

#: Letters of a name from which on one wrong letter is a misspelling rather than another name.
_LONG = 8
_LONGEST = 24

_SEPARATORS = re.compile(r"[-_ \t.!]")


def nearest(name: str, table: Mapping[str, str]) -> str | None:
    """The name that a misspelled one means, or None.

    *table* is made by :func:`near_table`.

    Two names are near when they become equal by leaving out at most one letter of each, or when two
    neighbouring letters are swapped; separators do not count.
    """
    for each in _near(_squeezed(name)):  # hot path
        if each in table:
            return table[each]
    return None


def near_table(names: Iterable[str]) -> dict[str, str]:
    """Names by what they become without one of their letters."""
    return {neighbour: name for name in names for neighbour in _near(_squeezed(name))}


def _near(name: str) -> list[str]:
    """A name and all names with one letter less."""
    return [name, *[name[:at] + name[at + 1 :] for at in range(len(name))]]


def _squeezed(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())


_EXACT = {*_DATA["near_to_known"], *(name.lower() for name in KNOWN_CRAWLERS)}
_NEAR = near_table(name for name in KNOWN_CRAWLERS if len(_squeezed(name)) >= _LONG)
#: Names that people write, letters and digits only, and the product token that they mean.
_INTENDED = {**_DATA["intended"], **{_squeezed(name): name for name in KNOWN_CRAWLERS}}


def is_known(name: str) -> bool:
    """Whether a name is that of a well-known crawler."""
    return name.lower() in _EXACT


def intended_crawler(value: str, edition: Edition) -> str | None:
    """The token that a misspelled value means, or None.

    A version after a slash does not count.
    """
    name = value.partition("/")[0].strip(" \t").lower()
    if len(name) > _LONGEST or name in _EXACT or edition.agent_match is AgentMatch.CONTAINED:
        return None
    letters = _squeezed(name)
    intended: str | None = _INTENDED.get(letters)
    return intended if intended or len(letters) < _LONG else nearest(name, _NEAR)
