"""Usage preferences: what may be done with a crawled page.

Values, the parsing of one statement (USE-04, USE-07), and which statements of a file hold for a URL
(USE-01 to USE-10). Their paths are matched as those of Allow and Disallow are, and no verdict
depends on anything here. Sources: aipref-attach-05, aipref-vocab-07,
draft-kelley-aipref-training-preference-signal-00, contentsignals.org.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy_robotspec.protocol.lines import RawRule, rules_at
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
from scrapy_robotspec.protocol.wildcards import Wildcards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.robots_file import GroupRules, RobotsFile

Preference = Literal["allow", "disallow"]
UsageSource = Literal["content-usage", "content-signal", "policy-token", "header"]

#: Fields of a file that state usage preferences.
USAGE_FIELDS: tuple[UsageSource, ...] = ("content-usage", "content-signal")
_FIELD_NAMES = tuple(each.encode() for each in USAGE_FIELDS)
#: Max usages kept for one file: few of its paths decide about all URLs.
_KEPT = 256
#: Max crawlers whose statements are kept for one file.
_KEPT_CRAWLERS = 16

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
        return MappingProxyType(parse_preferences(self.source, self.value))


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


def _in_order(statements: Iterable[UsageStatement]) -> tuple[UsageStatement, ...]:
    return tuple(sorted(statements, key=lambda each: each.line or 0))


class UsageRules:
    """The usage statements for one crawler; False without any."""

    statements: tuple[UsageStatement, ...]
    """Every statement, in file order."""

    def __init__(self, sources: Sequence[_Field | _Policy]) -> None:
        self._sources = [source for source in sources if source.statements]
        self._kept: dict[tuple[tuple[int, ...], ...], Usage] = {}
        self.statements = _in_order(each for source in sources for each in source.statements)

    def __bool__(self) -> bool:
        return bool(self.statements)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        deciding = tuple([source.deciding(url) for source in self._sources])
        usage = self._kept.get(deciding)
        if usage is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            pairs = zip(self._sources, deciding, strict=True)
            found = {each for source, keys in pairs for key in keys for each in source.stated[key]}
            usage = self._kept[deciding] = usage_of(_in_order(found))
        return usage


class _Field:
    """The lines of one field."""

    def __init__(self, field: UsageSource, lines: Sequence[Line], edition: Edition) -> None:
        self._edition = edition
        self.statements: list[UsageStatement] = []
        self.stated: dict[int, list[UsageStatement]] = {NO_RULE: []}
        """Statements that decide together, by key; without a path: ``NO_RULE``."""
        rules: list[RawRule] = []  # each has its index in the place of an offset
        for line in lines:
            if line.field != field:
                continue
            path, value = split_path(line.value)
            written = None if path is None else decode(path)
            statement = UsageStatement(field, decode(value), written, line.number)
            if path is None:
                self.stated[NO_RULE].append(statement)
            else:
                rules.append((False, path, len(self.statements)))
            self.statements.append(statement)
        firsts: dict[str, int] = {}
        for key, pattern in sorted(keyed_patterns(rules, edition)):
            first = firsts.setdefault(pattern, key)
            if _length(key) == _length(first):
                self.stated.setdefault(first, []).append(self.statements[line_start(key)])
        self._patterns = Wildcards(firsts) if firsts else None

    def deciding(self, url: str | bytes) -> tuple[int, ...]:
        """The keys of the longest paths that match a URL (USE-02)."""
        # hot path
        if self._patterns is None:
            return (NO_RULE,)
        keys = list(self._patterns.matching(path_of(url, self._edition) + END, NO_RULE))
        if not keys:
            return (NO_RULE,)
        longest = _length(keys[0])
        return tuple([key for key in keys if _length(key) == longest])


class _Policy:
    """The rules of the groups that a policy token names (USE-10)."""

    def __init__(self, token: str, body: bytes, rules: GroupRules) -> None:
        self._rules = rules
        starts = [start for allow, path, start in rules.rules if path and not allow]
        self.stated = {
            start: (UsageStatement("policy-token", token, rule.pattern, rule.line),)
            for start, rule in rules_at(body, starts, rules.edition).items()
        }
        self.statements = [statement for (statement,) in self.stated.values()]

    def deciding(self, url: str | bytes) -> tuple[int, ...]:
        """The offset of the rule that disallows a URL."""
        key = self._rules.find(url)
        return (line_start(key),) if forbids(key) else ()


#: For most files.
_NOTHING = UsageRules(())


class ForAll(NamedTuple):
    """The lines of a file that hold for every crawler."""

    licenses: tuple[str, ...] = ()
    """The absolute license URLs, in file order (USE-06)."""
    statements: tuple[UsageStatement, ...] = ()
    """Signals above the first group (USE-07), and the rules of policy tokens (USE-10)."""


class FileUsage:
    """The usage statements of a file."""

    def __init__(self, file: RobotsFile) -> None:
        self._file = file
        self._may_state = any(map(file.contains, _FIELD_NAMES))
        self._policies: list[_Policy] = []
        for token in POLICY_TOKENS:
            if file.contains(token.encode()):
                followed = file.follow(token)
                if followed.keys == (token,):
                    self._policies.append(_Policy(token, file.body, followed.rules))
        self._kept: dict[tuple[int, ...], UsageRules] = {}

    @cached_property
    def for_all(self) -> ForAll:
        """The lines that hold for every crawler."""
        every = self._file.all_groups()
        signals = _Field("content-signal", every.signals, self._file.edition).statements
        stated = (each for policy in self._policies for each in policy.statements)
        return ForAll(every.license_urls, _in_order((*signals, *stated)))

    def rules_for(self, tokens: Tokens) -> UsageRules:
        """The statements for a crawler; shared if others have the same."""
        lines: list[Line] = []
        if self._may_state:
            found = self._file.all_groups().others_for(self._file.follow(tokens).keys)
            lines = [line for line in found if line.field in USAGE_FIELDS]
        if not lines and not self._policies:
            return _NOTHING
        numbers = tuple([line.number for line in lines])
        rules = self._kept.get(numbers)
        if rules is None:
            if len(self._kept) >= _KEPT_CRAWLERS:
                self._kept.clear()
            fields = [_Field(each, lines, self._file.edition) for each in USAGE_FIELDS]
            rules = self._kept[numbers] = UsageRules([*fields, *self._policies])
        return rules


def _length(key: int) -> int:
    """Equal for keys of equally long patterns."""
    return key // LENGTH


def split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if any, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path = value.replace(b"\t", b" ").partition(b" ")[0]
    return path, value[len(path) :].strip(b" \t")
