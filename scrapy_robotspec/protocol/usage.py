"""Usage preferences: what may be done with a crawled page.

Values, the parsing of one statement (USE-04, USE-07), and which statements of a file hold for a URL
(USE-01 to USE-10). Their paths are matched as those of Allow and Disallow are, and no verdict
depends on anything here. Sources: aipref-attach-05, aipref-vocab-07,
draft-kelley-aipref-training-preference-signal-00, contentsignals.org.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lines import Line, RawRule, lines_at
from scrapy_robotspec.protocol.models import POLICY_TOKENS, decode
from scrapy_robotspec.protocol.paths import path_of
from scrapy_robotspec.protocol.patterns import END
from scrapy_robotspec.protocol.precedence import (
    LENGTH,
    NO_RULE,
    forbids,
    keyed_patterns,
    line_start,
)
from scrapy_robotspec.protocol.ruleset import RuleSet
from scrapy_robotspec.protocol.wildcards import Wildcards

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.robots_file import GroupRules, RobotsFile

Preference = Literal["allow", "disallow"]
UsageSource = Literal["content-usage", "content-signal", "policy-token", "header"]

#: Fields of a file that state usage preferences.
USAGE_FIELDS: tuple[UsageSource, ...] = ("content-usage", "content-signal")
#: Max usages kept for a crawler, each with its statements: few paths decide about all URLs.
_KEPT = 256
#: Max crawlers whose statements are kept for one file.
_KEPT_CRAWLERS = 4
#: The number in place of a path.
_WITHOUT_PATH = (0,)

#: RFC 9651 section 3.1.2:
#:     key = ( lcalpha / "*" ) *( lcalpha / DIGIT / "_" / "-" / "." / "*" )
_LABEL = re.compile("[a-z*][a-z0-9_.*-]*")

_PAIR = r"[a-z*][a-z0-9_.*-]*=[A-Za-z*][A-Za-z0-9_.*-]*"
#: RFC 9651 section 3.2:
#:     sf-dictionary = dict-member *( OWS "," OWS dict-member )
#:     dict-member = member-key ( parameters / ( "=" member-value ) )
#: where each value is a token of common characters, without parameters. Others are parsed in full.
_TOKENS_ONLY = re.compile(rf"{_PAIR}(?:[ \t]*,[ \t]*{_PAIR})*")

#: Tokens of a dictionary's values, and words of a signal (USE-04, USE-07).
_MEANINGS: Mapping[str, Preference] = {"y": "allow", "n": "disallow"}
_SIGNAL_MEANINGS: Mapping[str, Preference] = {"yes": "allow", "no": "disallow"}
_WHITE = " \t"
#: Content-Signal's names of labels that aipref-vocab spells otherwise (USE-07).
_SIGNAL_LABELS = {"ai-train": "train-ai"}


@dataclass(frozen=True, slots=True)
class UsageStatement:
    """One line of a file, or one header field, that states preferences.

    With a policy token, the line is the rule that disallows the page.
    """

    source: UsageSource
    value: str
    """The preferences as written, without the path; or the policy token."""
    path: str | None = None
    """The path pattern as written; None: the whole origin, or the response of a header."""
    line: int | None = None
    """Number of the line in the file, from 1; None for a header."""

    @property
    def preferences(self) -> Mapping[str, Preference]:
        """This statement's preferences by label; absent: unknown."""
        return parse_preferences(self.source, self.value)


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage preferences of one page, with the statements they come from.

    ``usage | other`` combines two sources: a label that any of them disallows is disallowed, else
    one that any of them allows is allowed (USE-04). Values can be compared, hashed and pickled.
    """

    applies: bool = True
    """False where robots.txt disallows the URL: such a page has no preferences (USE-03)."""
    preferences: Mapping[str, Preference] = field(default_factory=dict)
    """Preference by label (case-sensitive); an absent label is unknown."""
    statements: tuple[UsageStatement, ...] = ()
    """The statements that decide, in file order, a header last."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "preferences", MappingProxyType(dict(self.preferences)))

    @classmethod
    def from_header(cls, value: bytes | str) -> Usage:
        """Read a response's ``Content-Usage`` header (USE-05).

        Several header lines are joined with a comma before. No value raises: one that does not
        parse states nothing. Any type but bytes and str is a ``TypeError``.
        """
        if isinstance(value, bytes):
            value = value.decode("utf-8", "backslashreplace")
        elif not isinstance(value, str):
            raise TypeError(f"a header value must be bytes or str, not {type(value).__name__}")
        return usage_of((UsageStatement("header", value.strip(" \t")),))

    def __or__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.applies or other.applies,
            combine((self.preferences, other.preferences)),
            tuple(dict.fromkeys((*self.statements, *other.statements))),
        )

    def __hash__(self) -> int:
        return hash((self.applies, frozenset(self.preferences.items()), self.statements))

    def __reduce__(self) -> tuple[type[Usage], tuple[object, ...]]:
        return Usage, (self.applies, dict(self.preferences), self.statements)


@lru_cache(64)
def with_header(usage: Usage | None, header: bytes) -> Usage:
    """*usage* of a file with that of a response's header (USE-05).

    Pages of a site repeat both: each pair is combined once.
    """
    return (usage or Usage()) | Usage.from_header(header)


def is_label(text: str) -> bool:
    """Whether a text can be the label of a preference."""
    return _LABEL.fullmatch(text) is not None


def usage_of(statements: tuple[UsageStatement, ...]) -> Usage:
    """The usage that some statements combine to, whatever their order (USE-02, USE-04)."""
    stated = dict.fromkeys((each.source, each.value) for each in statements)
    return Usage(True, combine(parse_preferences(*each) for each in stated), statements)


def combine(sources: Iterable[Mapping[str, Preference]]) -> dict[str, Preference]:
    """Preferences of several sources as one, label by label (aipref-vocab, section 7.1)."""
    combined: dict[str, Preference] = {}
    for preferences in sources:
        for label, preference in preferences.items():
            if combined.get(label) != "disallow":
                combined[label] = preference
    return combined


def parse_preferences(source: str, value: str) -> dict[str, Preference]:
    """Preferences by label, of a dictionary (RFC 9651) or a signal.

    Only the tokens ``y`` and ``n`` count; a dictionary that does not parse has none.
    """
    if source == "content-signal":
        return _parse_signal(value)
    if source == "policy-token":
        return {POLICY_TOKENS[value.lower()]: "disallow"}
    members = parse_dictionary(value) or {}
    return {label: _MEANINGS[word] for label, word in members.items() if word and word in _MEANINGS}


def parse_dictionary(value: str) -> dict[str, str | None] | None:
    """The members of a dictionary (RFC 9651) that are tokens.

    The value of any other member is None. None for a syntax error.
    """
    if _TOKENS_ONLY.fullmatch(value):  # usual
        pairs = (pair.strip(_WHITE).partition("=") for pair in value.split(","))
        return {label: word for label, _, word in pairs}
    import http_sf  # takes longer to import than this package, and few files need it

    try:
        # Non-ASCII bytes fail to parse however they were decoded.
        members: Any = http_sf.parse(value.encode("utf-8", "surrogatepass"), tltype="dictionary")
    except http_sf.StructuredFieldError:
        return None
    return {
        label: str(member) if isinstance(member, http_sf.Token) else None
        for label, (member, _) in members.items()
    }


def written_parts(value: str) -> Iterator[tuple[str, str]]:
    """The names and words of a Content-Signal line, in lower case (USE-07)."""
    for part in value.lower().split(","):
        name, _, word = part.partition("=")
        yield name.strip(_WHITE), word.strip(_WHITE)


def signal_parts(value: str) -> Iterator[tuple[str, str]]:
    """The labels and words of a Content-Signal line (USE-07)."""
    return ((_SIGNAL_LABELS.get(name, name), word) for name, word in written_parts(value))


def _parse_signal(value: str) -> dict[str, Preference]:
    """Preferences of a Content-Signal line, part by part (USE-07)."""
    return combine(
        {label: _SIGNAL_MEANINGS[word]}
        for label, word in signal_parts(value)
        if word in _SIGNAL_MEANINGS and is_label(label)
    )


# --- the statements of a file


#: Numbers of paths, or offsets.
_Numbers = tuple[int, ...]
#: Fields or policy tokens, each with the offsets of some of its lines.
_Stated = Iterable[tuple[str, "Sequence[int]"]]


def _read_statements(body: bytes, edition: Edition, stated: _Stated) -> tuple[UsageStatement, ...]:
    """The statements on some lines, in file order."""
    found = [
        _statement_of(word, line)
        for word, starts in stated
        for line in lines_at(body, starts, edition)
    ]
    return tuple(sorted(found, key=lambda each: each.line or 0))


def _statement_of(word: str, line: Line) -> UsageStatement:
    """The statement on a line of a field, or of a policy token."""
    if word in POLICY_TOKENS:
        return UsageStatement("policy-token", word, decode(line.value), line.number)
    path, value = split_path(line.value)
    source = cast("UsageSource", word)
    return UsageStatement(source, decode(value), decode(path) or None, line.number)


class UsageRules:
    """The usage statements for one crawler; False without any."""

    def __init__(self, body: bytes, edition: Edition, sources: Sequence[_Field | _Policy]) -> None:
        self._body, self._edition = body, edition
        self._sources = [source for source in sources if source.starts]
        self._kept: dict[tuple[_Numbers, ...], Usage] = {}
        self._size = 0  # of these, in statements and usages

    def __bool__(self) -> bool:
        return bool(self._sources)

    @property
    def statements(self) -> tuple[UsageStatement, ...]:
        """Every statement, in file order."""
        every = [(source.word, source.starts) for source in self._sources]
        return _read_statements(self._body, self._edition, every)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        # hot path
        deciding: tuple[_Numbers, ...] = ()
        for source in self._sources:
            deciding += (source.deciding(url),)
        return self._kept.get(deciding) or self._read(deciding)

    def _read(self, deciding: tuple[_Numbers, ...]) -> Usage:
        """The usage that some statements of each source combine to."""
        pairs = zip(self._sources, deciding, strict=True)
        stated = tuple((source.word, source.stated(numbers)) for source, numbers in pairs)
        size = sum(len(starts) for _, starts in stated) + 1
        if size > _KEPT:
            return _usage_of_many(self._body, self._edition, stated)
        self._size += size
        if self._size > _KEPT:
            self._kept.clear()
            self._size = size
        usage = self._kept[deciding] = _usage_of_lines(self._body, self._edition, stated)
        return usage


def _usage_of_lines(body: bytes, edition: Edition, stated: _Stated) -> Usage:
    return usage_of(_read_statements(body, edition, stated))


#: The files with most statements: their usage takes 30 times as much memory as they.
_usage_of_many = lru_cache(2)(_usage_of_lines)


class _Field:
    """The lines of one field."""

    def __init__(self, word: str, lines: Sequence[Line], edition: Edition) -> None:
        self.word = word
        self.starts = array("I", [line.start for line in lines])
        self._edition = edition
        rules: list[RawRule] = []
        #: Statements that decide together, the first ones without a path, and where those of each
        #: pattern begin among them.
        self._stated, self._bounds = array("I"), array("I", [0])
        for line in lines:
            path, _ = split_path(line.value)
            if path:
                rules.append((False, path, line.start))
            else:
                self._stated.append(line.start)
        by_pattern: dict[str, list[int]] = {}
        for key, pattern in sorted(keyed_patterns(rules, edition)):
            by_pattern.setdefault(pattern, []).append(key)
        patterns: dict[str, int] = {}
        for number, (pattern, keys) in enumerate(by_pattern.items(), 1):
            self._bounds.append(len(self._stated))
            longest = keys[0] // LENGTH
            self._stated.extend([line_start(key) for key in keys if key // LENGTH == longest])
            patterns[pattern] = keys[0] - line_start(keys[0]) + number  # in the place of an offset
        self._bounds.append(len(self._stated))
        self._rules: RuleSet | None = None
        self._wildcards: Wildcards | None = None
        if any(b"*" in path for _, path, _ in rules):  # also one at the end may count (PAT-03)
            self._wildcards = Wildcards(patterns)
        elif patterns:
            keyed = [(key, pattern) for pattern, key in patterns.items()]
            self._rules = RuleSet(keyed, replace(edition, robots_txt_allowed=False))

    def deciding(self, url: str | bytes) -> _Numbers:
        """The numbers of the longest paths that match a URL (USE-02); 0: statements without one."""
        # hot path
        if self._wildcards is None:  # usual: one path is the longest
            key = NO_RULE if self._rules is None else self._rules.find(url)
            return _WITHOUT_PATH if key == NO_RULE else (line_start(key),)
        keys = list(self._wildcards.matching(path_of(url, self._edition) + END, NO_RULE))
        if not keys:
            return _WITHOUT_PATH
        longest = keys[0] // LENGTH
        return tuple([line_start(key) for key in keys if key // LENGTH == longest])

    def stated(self, numbers: _Numbers) -> _Numbers:
        """Where the statements of some paths begin."""
        bounds = self._bounds
        found = (self._stated[bounds[number] : bounds[number + 1]] for number in numbers)
        return tuple(sorted(set(chain.from_iterable(found))))


class _Policy:
    """The rules of the groups that a policy token names (USE-10)."""

    def __init__(self, token: str, rules: GroupRules) -> None:
        self.word = token
        self._rules = rules
        self.starts = array(
            "I", [start for allow, path, start in rules.rules if path and not allow]
        )

    def deciding(self, url: str | bytes) -> _Numbers:
        """The offset of the rule that disallows a URL."""
        key = self._rules.find(url)
        return (line_start(key),) if forbids(key) else ()

    def stated(self, numbers: _Numbers) -> _Numbers:
        """Where the deciding rules begin."""
        return numbers


#: For most files.
_NOTHING = UsageRules(b"", get_edition("google-2019"), ())


class ForAll(NamedTuple):
    """The lines of a file that hold for every crawler."""

    licenses: tuple[str, ...] = ()
    """The absolute license URLs, in file order (USE-06)."""
    statements: tuple[UsageStatement, ...] = ()
    """Signals above the first group (USE-07), and the rules of policy tokens (USE-10)."""


class FileUsage:
    """The usage statements of a file."""

    __slots__ = ("_file", "_kept", "_policies")

    def __init__(self, file: RobotsFile) -> None:
        self._file = file
        found = [(token, file.follow(token)) for token in POLICY_TOKENS if token in file.words]
        self._policies = tuple(
            [_Policy(token, each.rules) for token, each in found if each.keys == (token,)]
        )
        self._kept: dict[bytes, UsageRules] = {}

    @property
    def for_all(self) -> ForAll:
        """The lines that hold for every crawler."""
        file, others = self._file, self._file.others
        licenses = (
            decode(line.value) for line in lines_at(file.body, others.licenses, file.edition)
        )
        of_policies = ((policy.word, policy.starts) for policy in self._policies)
        stated: _Stated = [("content-signal", others.signals), *of_policies]
        statements = _read_statements(file.body, file.edition, stated)
        return ForAll(tuple(filter(is_absolute, licenses)), statements)

    def rules_for(self, tokens: Tokens) -> UsageRules:
        """The statements for a crawler; shared if others have the same."""
        file, starts = self._file, array("I")
        if not file.words.isdisjoint(USAGE_FIELDS):
            starts = file.others.starts_for(file.follow(tokens).keys, USAGE_FIELDS)
        if not starts and not self._policies:
            return _NOTHING
        written = starts.tobytes()
        rules = self._kept.get(written)
        if rules is None:
            if len(self._kept) >= _KEPT_CRAWLERS:
                self._kept.clear()
            lines = list(lines_at(file.body, starts, file.edition))
            fields = [
                _Field(field, stated, file.edition)
                for field in USAGE_FIELDS
                if (stated := [line for line in lines if line.field == field])
            ]
            rules = self._kept[written] = UsageRules(
                file.body, file.edition, [*fields, *self._policies]
            )
        return rules


def split_path(value: bytes) -> tuple[bytes, bytes]:
    """The path of a statement, maybe empty, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return b"", value
    path = value.replace(b"\t", b" ").partition(b" ")[0]
    return path, value[len(path) :].strip(b" \t")
