"""Checks of one line: its form and its value.

FMT-04 to FMT-14, RUL-04, PAT, UAG-03, UAG-09, UAG-10, USE-10, SIT-03, EXT-01, USE-06.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

from scrapy_robotspec.editions import EDITIONS, Edition, Slashless, longest_line
from scrapy_robotspec.protocol.agents import key_of, named_agent, product_name
from scrapy_robotspec.protocol.groups import RawGroup, is_absolute
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, SECONDS, Line
from scrapy_robotspec.protocol.lint.crawlers import (
    IGNORING,
    KNOWN_CRAWLERS,
    intended_crawler,
    is_known,
    near_table,
    nearest,
)
from scrapy_robotspec.protocol.lint.findings import Fault, Faults, read_data, shown
from scrapy_robotspec.protocol.lint.group_checks import EVERYTHING, counted
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS, decode
from scrapy_robotspec.protocol.usage import USAGE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.protocol.lint.effects import Effects

#: Patterns with what they show.
_DATA = read_data("patterns.json")

#: Fields beyond the protocol that are in use (SIT-01, EXT-01, EXT-03).
_EXTENSIONS = frozenset(
    {"clean-param", "crawl-delay", "host", "request-rate", "sitemap", "visit-time"}
)
_PROTOCOL = ("user-agent", "allow", "disallow", "sitemap")
_KNOWN = frozenset({*_PROTOCOL, *_EXTENSIONS, *USAGE_FIELDS, "license"})
#: Fields whose values need no equals sign.
_NO_EQUALS = (*_PROTOCOL, "crawl-delay")
_IGNORES = "ignores the line"
_LONGEST_MISSPELLING = 16
#: Max characters in which a field is found (SAF-02): normalizing takes time in the square of them.
_LONGEST_FIELD = 99
#: Lines of which at most the value is to be checked. Other capitals are not usual.
_USUAL_LINE = rb"""(?x) (?!.{%d}) (?:
    (?:[Dd]isallow|[Aa]llow): (?:[ \t]+ (?!.*/(?:[.:]|%%2[Ee])) (?: / (?!/) %b) %b | [ ]? \Z)
    | (?:[Uu]ser-[Aa]gent: (?:[ ] [\t -9;-~]*)? | \# [\t -~]*)? \Z
    | (?P<value> (?:[Dd]isallow|[Aa]llow): [ \t]+ %b) [\t -9;-~]* \Z
)"""
#: By whether stars and dollar signs are special: the rest of a path.
_REST = {
    False: rb"[\w/?=~&.@+-]* (?: %(?!25)[\da-fA-F]{2} [\w/?=~&.@+-]* )* [ ]* \Z",
    True: rb"[\w/?=~&.@+*-]* (?: %(?!25)[\da-fA-F]{2} [\w/?=~&.@+*-]* )* (?<!\*) \$? [ ]* \Z",
}
_TIGHT_COLON = re.compile(rb"\A([^:#]*:)(?![ \t]|\Z)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_FIELDS = rb"(?:user-agent|disallow|allow|sitemap|crawl-delay|host)[ \t]*:"
#: A field behind a sign that parts words, before a value, or with a capital letter.
_SECOND_FIELD = re.compile(
    rb"(?:\A|\\[nr]|[ \t,;])%b|%b(?:[ \t]|https?:)"
    rb"|(?:user-agent|disallow):\Z|(?-i:User-agent|Disallow|Allow|Crawl-delay):[/*0-9]"
    % (_FIELDS, _FIELDS),
    re.I,
)
#: A byte order mark as text in UTF-8, from Latin-1, and a second one.
_ENCODED_MARKS = (b"\xc3\xaf\xc2\xbb\xc2\xbf", BYTE_ORDER_MARK)
#: Seconds. Bing documents 1 to 30 s, Majestic at most 30 s, Semrush at most 10 s.
LONGEST_DELAY = 30

_NEAR = near_table((*_NO_EQUALS, "content-signal", "content-usage"))


def has_own_cause(value: bytes) -> bool:
    """Whether a finding about the line explains all faults of its value."""
    return value.startswith(b":") or _SECOND_FIELD.search(value) is not None


def intended_field(name: str, value: bytes) -> str | None:
    """The field that a misspelled name most likely means, or None."""
    field = nearest(name, _NEAR) if len(name) <= _LONGEST_MISSPELLING else None
    return field if field in _NO_EQUALS or b"=" in value else None


@lru_cache
def usual_line(edition: Edition) -> re.Pattern[bytes]:
    """The expression of lines that all editions read alike.

    Its group ``value``: the value is to be checked.
    """
    begin = rb"| \* [\w/?=~&.-]" if edition.star_begins_path else b""
    sitemap = rb"| [Ss]itemap: [ ] https?:" if edition.other_fields else b""
    rest = _REST[edition.wildcards]
    return re.compile(_USUAL_LINE % (longest_line(edition) + 1, begin, rest, sitemap))


def check_colon(line: Line, edition: Edition, *, may_replace: bool) -> Faults:
    """Check that a space follows the colon (EXT-04)."""
    if line.field in _PROTOCOL and line.value and _TIGHT_COLON.match(line.text):
        may_replace &= line.text.isascii() and b" " in edition.whitespace
        replacement = decode(_TIGHT_COLON.sub(rb"\1 ", line.text)) if may_replace else None
        fault = "A space after the colon helps people to read the line"
        yield line, "RS903", fault, "needs none", replacement


def check_form(line: Line, edition: Edition) -> Iterator[Fault]:
    """Check the bytes, form and field of a line.

    FMT-01, FMT-04, FMT-06, FMT-11, FMT-13.
    """
    limit = edition.max_line
    if limit is not None and len(line.text) > limit:
        yield "RS105", "The line is too long", f"reads its first {limit} bytes"
    if _SECOND_FIELD.search(line.value):
        yield "RS107", "Two lines stand on one", f"reads one value, {shown(line.value)}"
    if _CONTROL.search(line.text):
        ends = b"\0" in line.text and edition.nul_ends_line
        read = "ends the line there" if ends else "reads it as a part of the line"
        yield "RS106", "The line contains a control character", read
    try:
        line.text.decode("utf-8")
    except UnicodeDecodeError:
        yield "RS104", "The line is not UTF-8", "compares other bytes by their escapes"
    content = decode(line.text.partition(b"#")[0]).strip(" \t")
    if content and (fault := _fault_of_field(line, content, edition)):
        yield fault


def _fault_of_field(line: Line, content: str, edition: Edition) -> Fault | None:
    """Whether the edition knows the field (FMT-08, FMT-10, FMT-11, FMT-14)."""
    written = decode(line.name).lower()
    first, _, rest = written.partition(" ")
    is_known_field = line.field in _KNOWN
    read = f"reads {shown(line.value)}" if is_known_field else _IGNORES
    if line.number == 1 and line.text.startswith(_ENCODED_MARKS):
        return "RS108", "The byte order mark is encoded twice", "reads it as text"
    is_rule = line.field in ("allow", "disallow")
    found = "" if is_rule else _code_points(_ODD.findall(content))
    if found and (is_known_field or _legible(content) in _KNOWN):
        return "RS109", f"The line contains {found}", read
    if not is_known_field and (foreign := _kind_of(content, _DATA["lines"])):
        return "RS110", f"The line is {foreign}, and a comment begins with #", _IGNORES
    if content.startswith(("http://", "https://")):
        return "RS101", "A URL stands alone, without a field (Sitemap, if it is one)", _IGNORES
    if content.startswith(("/", "*")) and not is_known_field:
        return "RS101", "A path stands alone, without a field", _IGNORES
    if is_known_field and line.value.startswith(b":"):
        return "RS101", f"Two colons follow {shown(written)}", read
    if ":" not in content or not written:
        part = "colon after the field" if ":" not in content else "field before the colon"
        read = "reads white space instead" if line.name else _IGNORES
        return "RS101", f"The {part} is missing", read
    if rest and first in _KNOWN:
        return "RS101", f"The colon after {shown(first)} is missing", read
    if line.field in _PROTOCOL and written != line.field:
        return "RS102", f'{shown(written)} is a misspelled "{line.field}"', "accepts it"
    if written in _KNOWN:
        if edition.other_fields or written not in _EXTENSIONS:
            return None
    elif written == "noindex":
        return "RS111", "Noindex belongs into pages or their headers", _IGNORES
    elif field := intended_field(written, line.value):
        other = _code_points(each for each in written if not each.isascii())
        fault = f'{shown(written)} looks like "{field}" misspelled'
        return "RS102", f"{fault} with {other}" if other else fault, _IGNORES
    return "RS103", f"{shown(written)} is not a field of the protocol", _IGNORES


def _legible(content: str) -> str:
    """The field of a line without invisible characters, and with ASCII for full-width signs."""
    legible = unicodedata.normalize("NFKC", _IN_PATH.sub("", content)[:_LONGEST_FIELD])
    return legible.partition(":")[0].strip().lower()


def check_other(line: Line, edition: Edition) -> Iterator[Fault]:
    """Check the value of a line that is not a rule."""
    if has_own_cause(line.value):
        return
    needs_url = line.field == "license" or (line.field == "sitemap" and edition.other_fields)
    if needs_url and not is_absolute(decode(line.value)):
        code = "RS404" if line.field == "license" else "RS401"
        is_path = line.value.startswith(b"/") and line.field == "sitemap"
        read = "resolves it where the site is known" if is_path else "does not offer it"
        wanted = (
            "one URL, with a host that can exist" if b"://" in line.value else "an absolute URL"
        )
        yield code, f"A {line.field} needs {wanted}", read
    elif line.field == "crawl-delay" and edition.other_fields:
        if not SECONDS.fullmatch(line.value):
            yield "RS402", "A crawl-delay is a number of seconds", "ignores this one"
        elif float(line.value) > LONGEST_DELAY:
            fault = f"Crawlers accept at most {LONGEST_DELAY} s as a crawl-delay"
            yield "RS403", fault, "has no limit"


# --- rules

_ASCII = "".join(map(chr, range(128)))
#: Max characters of an encoded path that is shown to be copied (SAF-02).
_LONGEST_ENCODED = 200
_STARS = re.compile(rb"\*+")
#: A comment right behind a path, without a space in it: the fragment of a URL.
_FRAGMENT = re.compile(rb"[^\s:#]#[^\s#]*\s*\Z")
_ENTITY = re.compile(rb"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]+|#x[0-9a-f]+);", re.I)
#: Regular expressions, and parameters of routes.
_OTHER_NOTATION = re.compile(
    rb"\^/|\\[./?dws]|/\.[*+]|\A/?\(?\.[*+]|\[\^?[a-z0-9]-[a-z0-9]|\(\?|\([^()]*\|[^()]*\)"
    rb"|/:[a-z]|/[<{][a-z_:]+[>}]",
    re.I,
)


@lru_cache
def _signs(edition: Edition) -> Sequence[tuple[re.Pattern[bytes], Mapping[str, str]]]:
    """Those of an edition, each with its code, fault and effect."""
    return [
        (re.compile(row["pattern"].encode(), re.I), row)
        for row in _DATA["paths"]
        if all(getattr(edition, name) is value for name, value in row.get("in", {}).items())
    ]


def check_rules(effects: Effects, starts: Collection[int]) -> Faults:
    """Check the paths of rules whose lines begin at some offsets."""
    for group in effects.groups:
        for line in group.rules:  # hot path
            if line.start not in starts or has_own_cause(line.value):
                continue
            if _STARS.fullmatch(line.value):
                names = counted(group.names) if group.names else "no crawler"
                fault = f"A star is not a path, in the group of {names}"
                yield line, "RS310", fault, effects.of_crawler(group.crawler)
            elif line.value:
                of_path = _check_path(line, effects.edition)
                for each in (*_check_comment(line, group, effects), *of_path):
                    yield line, *each


def _check_comment(line: Line, group: RawGroup, effects: Effects) -> Iterator[Fault]:
    """Text that is meant as a part of the path (FMT-07)."""
    words = f"reads {shown(line.value)}"
    if entity := _ENTITY.search(line.text):
        yield "RS316", f"URLs do not contain the HTML entity {shown(entity[0])}", words
    elif _FRAGMENT.search(line.text):
        if line.value in EVERYTHING:
            words += f" and {effects.of_crawler(group.crawler)}"
        yield "RS315", "A # begins a comment, in a path too", words


def _check_path(line: Line, edition: Edition) -> Iterator[Fault]:
    """Check a path that is not just a star."""
    path = decode(line.value)
    is_assumed = edition.slashless is Slashless.ASSUMED
    unslashed = "puts a slash before it" if is_assumed else "never applies the rule"
    if not path.isascii() and (found := _code_points(_IN_PATH.findall(path))):
        read = "compares it too" if path.startswith("/") else unslashed
        yield "RS314", f"The path contains {found}", read
    elif _OTHER_NOTATION.search(line.value):
        special = "* and a final $" if edition.wildcards else "no character"
        fault = "The path looks like a regular expression or a route"
        yield "RS317", fault, f"reads {special} as special"
        return
    elif path.startswith("/") or (path[0] == "*" and edition.star_begins_path):
        pass
    elif kind := _kind_of(path, _DATA["values"]):  # text instead of a path (RUL-04)
        yield "RS311", f"{shown(path)} is {kind}, not a path", unslashed
        return
    else:
        first = "" if path[0].isascii() else f", but with {_code_points(path[0])}"
        yield "RS301", f"The path does not start with a slash{first}", unslashed
    if not (path.isascii() or _IN_PATH.search(path)):
        encoded = quote(path, safe=_ASCII)
        whole = f'"{encoded}"' if len(encoded) <= _LONGEST_ENCODED else shown(encoded)
        yield "RS312", f"RFC 9309 wants the path as {whole}", "reads both alike"
    for pattern, row in _signs(edition):
        if sign := pattern.search(line.value):
            fault = row["fault"].format(sign=shown(sign[0]), sign_code=sign[0][0])
            yield row["code"], fault, row["reads"]


# --- user-agent lines

#: Text after a name that people write, and that crawlers ignore as they expect: a version, a star.
_IGNORED_TAIL = re.compile(r"(?<=.)(?:[ \t]*/.*|\*)\Z", re.S)

#: A User-Agent header of a browser, or of a crawler that poses as one.
_HEADER = re.compile(r"mozilla[ \t]*/|.*[(;][ \t]*compatible[ \t]*;", re.I | re.S)
#: The name after the first of a list.
_OTHER_NAME = re.compile(r"[A-Za-z_*-]+([ \t,;|&]+)([A-Za-z_-]{1,64})(?![A-Za-z_-])")
#: A name that RFC 9309 reads in part, and that an operator may document.
_WITH_DIGITS = re.compile(r"[\w-]*\d[\w-]*", re.A)


def check_agents(effects: Effects) -> Faults:
    """Check that each line names one crawler, and nothing else."""
    edition = effects.edition
    first_named: dict[str, int] = {}
    for group in effects.groups:
        keys = frozenset(group.keys)
        whole = keys if edition.whole_agent_names else ()  # names beside * do not count (UAG-10)
        for line in group.agents:
            name = named_agent(line.value, edition)
            if fault := _fault_of_name(line, name, keys, effects):
                yield line, *fault
            if not name or (DEFAULT in whole and name != DEFAULT):
                continue
            if ignores := IGNORING.get(name.lower()):
                yield line, "RS209", f"{shown(name)} {ignores}", "reads the group like any other"
            if label := POLICY_TOKENS.get(name.lower()):
                words = f"{shown(name)} is a policy token: it names a use, {shown(label)}"
                effect = "reads that pages the group disallows are not for this use"
                yield line, "RS508", words, effect
            first = first_named.setdefault(key_of(name, edition), group.first_line)
            if first != group.first_line:
                yield line, "RS205", f"The group at line {first} names it too", "follows both"


def _fault_of_name(
    line: Line, name: str | None, keys: frozenset[str], effects: Effects
) -> Fault | None:
    """Whether the value of a line is a name, given the keys of its group."""
    value = decode(line.value)
    if value == name and (name == DEFAULT or is_known(name)):  # hot path
        return None
    if has_own_cause(line.value) or _ODD.search(value):
        return None
    read = f"reads {shown(name)}" if name else "reads no name"
    if name == DEFAULT:
        read = "reads every crawler"
    if not keys:
        read += ", so its rules hold for no crawler"
    intended = intended_crawler(value, effects.edition)
    if intended is not None and intended.lower() != (name or "").lower():
        return "RS210", f"{shown(value)} looks like {shown(intended)}", read
    if _HEADER.match(value):
        meant = product_name(value)
        is_readable = named_agent(meant.encode(), effects.edition) == meant
        is_named = is_readable and meant.lower() != "mozilla"
        written = f"write {shown(meant)} instead of" if is_named else "not"
        return "RS211", f"A line has a name, {written} a User-Agent header", read
    whole = value.partition("/")[0].rstrip()
    if whole != name and (_WITH_DIGITS.fullmatch(whole) or is_known(whole)):
        read = f"as it reads {shown(name)}" if name else "and so the crawler, as it reads no name"
        effect = f"{effects.of_crawler(name or DEFAULT)}, {read}"
        return "RS219", f"{shown(whole)} is read as {_readings(line)}", effect
    has_star = "*" in whole and any(map(str.isalpha, whole))
    if name != DEFAULT and has_star and not is_known(whole.removesuffix("*")):
        begin = value.partition("*")[0].lower()
        begun = (each for each in KNOWN_CRAWLERS if begin and each.lower().startswith(begin))
        left_out = next((each for each in begun if not effects.follows(each, keys)), None)
        fault = "A star in a name is not a wildcard"
        fault += f", so {shown(left_out)} does not follow the group" if left_out else ""
        return "RS214", fault, read
    if not name:
        return "RS202", "The line names no crawler", read
    if name in (value, _IGNORED_TAIL.sub("", value)):
        return None
    fault = "The text after the name is ignored"
    other = _OTHER_NAME.match(value)
    if other and (other[1].strip() or is_known(other[2])) and not effects.follows(other[2], keys):
        fault = f"A line names one crawler, so {shown(other[2])} does not follow the group"
    return "RS203", fault, read  # erratum 8895 of RFC 9309


def _readings(line: Line) -> str:
    """The name that each edition reads."""
    editions: dict[str, list[str]] = {}
    for edition in EDITIONS.values():
        name = named_agent(line.value, edition)
        editions.setdefault(shown(name) if name else "nothing", []).append(edition.name)
    return " and as ".join(f"{name} by {', '.join(names)}" for name, names in editions.items())


# --- characters that are invisible, or that look like ASCII signs

_BLANK = "\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
#: Joiners and apostrophes, which belong to words of some languages, except at the ends.
_ENDS = "[\u200c\u200d\u2018\u2019]"
_LOOK_ALIKES = "\u00ab\u00bb\u2010-\u201f\u2039\u203a\u2044\u2215\u2217\u2236\uff01-\uff5e"

_IN_PATH = re.compile(f"[{_BLANK}\u201c-\u201f]|\\A{_ENDS}|{_ENDS}\\Z")
_ODD = re.compile(f"{_IN_PATH.pattern}|[{_LOOK_ALIKES}]")
#: Code points that a message names.
_MOST = 4


def _kind_of(text: str, patterns: Mapping[str, str]) -> str:
    """The first kind whose pattern a text begins with; empty for none."""
    return next((kind for kind, each in patterns.items() if re.match(each, text, re.I)), "")


def _code_points(characters: Iterable[str]) -> str:
    """The names of some characters, as ``U+00A0, U+200B``."""
    names = dict.fromkeys(f"U+{ord(character):04X}" for character in characters)
    return ", ".join(islice(names, _MOST))
