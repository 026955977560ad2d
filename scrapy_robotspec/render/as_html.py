"""Answers and their file as an HTML page without scripts or network.

The report of a crawl is rendered by the same templates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.origin import without_user_info
from scrapy_robotspec.access.reasons import SERVERS_READ
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.explanation import (
    Explanation,
    crawler_words,
    facts,
    read_words,
    utc,
)
from scrapy_robotspec.render.text import MOST, count, duration, first_of, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens

#: Max length of a text from outside on a page (characters).
LONGEST = 2000
#: Max groups of answers on a page; and max answers, but for the first ones of each group.
MOST_ROWS = 500
#: Answers of a group that are shown at once.
FEW = 3
#: A longer file is shown at its beginning, and else its lines with notes (lines).
MOST_LINES = 3000
#: Max crawlers that are named at a group.
MOST_FOLLOWERS = 6

#: The linter's code of a misspelled field.
_MISSPELLED = "RS102"
#: The values of ``Explanation.allowed``, in the order of the page.
_ORDER = (False, None, True)

#: The number of a line, its role in the answers or for crawlers, and the style of that.
Note = tuple[int, str, str]


def shown(text: str) -> str:
    """``text`` with unprintable characters escaped; the templates escape its markup."""
    return safe(text, LONGEST)


#: The templates.
TEMPLATES = Environment(
    loader=PackageLoader("scrapy_robotspec.render"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters.update(shown=shown, count=count, duration=duration)
TEMPLATES.globals["servers_read"] = SERVERS_READ


def render(template: str, *, now: float, **values: Any) -> str:
    """A page made of a template.

    ``now``: the date shown on the page (epoch seconds).
    """
    return TEMPLATES.get_template(template).render(**values, made=utc(now), version=__version__)


class Row(NamedTuple):
    """One line."""

    number: int
    style: str
    text: str
    notes: Mapping[str, str]
    """Roles of the line in the answers or for crawlers, with their styles."""
    left_out: int
    """Number of lines left out above it."""


def answers_page(
    name: str,
    file: ParsedFile | None,
    answers: Sequence[Explanation],
    *,
    now: float,
    asked: Iterable[Tokens] = (),
) -> str:
    """Answers, and the file with the lines that gave them.

    It is made to be sent, so its URLs have no password. ``file`` is None where a site has none;
    ``asked``: more crawlers whose groups are marked.
    """
    groups = _groups([each._replace(url=without_user_info(each.url)) for each in answers])
    most = max(FEW, MOST_ROWS // max(1, len(groups)))
    found = [one for group in groups for one in group[:most]]
    crawlers = [one.tokens for one in answers]
    return render(
        "answers.html",
        now=now,
        name=name,
        file=file,
        found=found,
        groups=groups,
        few=FEW,
        most=most,
        numbers=Counter(one.allowed for one in answers),
        facts=facts,
        read_words=read_words,
        rows=[] if file is None else listing(file, [*crawlers, *asked], _notes(found)),
    )


def _groups(answers: Iterable[Explanation]) -> list[list[Explanation]]:
    """The answers by verdict and by the rule or reason behind it, the most frequent first."""
    groups: dict[object, list[Explanation]] = defaultdict(list)
    for one in answers:
        groups[one.allowed, one.rule or one.detail].append(one)
    order = sorted(groups.values(), key=lambda group: (_ORDER.index(group[0].allowed), -len(group)))
    return order[:MOST_ROWS]


def _notes(found: Sequence[Explanation]) -> Iterator[Note]:
    for one in found:
        if one.rule is not None:
            yield (one.rule.line, *(("allows", "good") if one.allowed else ("disallows", "bad")))
        for rule in one.losing[:MOST]:
            yield rule.line, "loses", ""
        for statement in one.usage.statements if one.usage is not None else ():
            yield statement.line or 0, "states the use", ""


def listing(file: ParsedFile, crawlers: Iterable[Tokens], more: Iterable[Note]) -> list[Row]:
    """The lines of the file, with notes about crawlers and *more*.

    A long file is cut to its beginning, the lines with notes, and its last one.
    """
    notes: dict[int, dict[str, str]] = defaultdict(dict)
    followers: dict[int, list[str]] = defaultdict(list)
    for tokens in dict.fromkeys(crawlers):
        for first in file.group_for(tokens).group_lines:
            followers[first].append(crawler_words(tokens, file.written))
    for first, names in followers.items():
        notes[first][f"applies to {first_of(names, MOST_FOLLOWERS)}"] = "lit"
    for number, role, style in more:
        notes[number][role] = style
    for finding in file.robots.lint():
        if finding.code == _MISSPELLED:
            notes[finding.line]["misspelled field"] = "note"
    kept = set(islice(notes, MOST_LINES))
    firsts = {group.first_line for group in file.groups}
    blank_ends = file.robots.edition.blank_line_ends_group
    is_followed = False
    rows: list[Row] = []
    for line in file.lines:
        number = line.number
        if number in firsts or (blank_ends and not line.text.strip()):
            is_followed = number in followers
        if number <= MOST_LINES or number in kept or line is file.lines[-1]:
            # Before, further empty lines have no row.
            left_out = number - rows[-1].number - 1 if number > MOST_LINES else 0
            style = "followed" if is_followed else ""
            if not line.field:
                style = "invalid" if line.text.partition(b"#")[0].strip() else "comment"
            rows.append(Row(number, style, decode(line.text), notes.get(number, {}), left_out))
    return rows
