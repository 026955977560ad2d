"""The protocol in its plainest form: obvious and slow.

It shares nothing with the package but the values of :class:`Edition`, so that the real reader can
be held against it. Nothing here is fast or kept; whatever a reader of ``docs/specification.md``
would do with a pencil is done in that order: lines, groups, choice of the group, rules, verdict.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scrapy_robotspec.editions import AgentMatch, Edition, Slashless

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNRESERVED = string.ascii_letters + string.digits + "-._~"
URI = UNRESERVED + ":/?#@!$&'()*+,;="
LONE_PERCENT = "\ue000"  # no other character becomes this one
LITERALS = {ord("*"): "\ue001", ord("$"): "\ue002"}  # nor these
QUERY_APOSTROPHE = "\ue003"
#: PAT-12: the spellings in a rule that also match an apostrophe of a query.
APOSTROPHES = ("'", "%27", QUERY_APOSTROPHE)
TOKEN_LETTERS = (string.ascii_letters + "_-").encode()


@dataclass(frozen=True)
class Verdict:
    """The verdict of the reference about one URL."""

    allowed: bool
    line: int
    """The deciding line, from 1; 0 where no line decides."""


@dataclass
class PlainRule:
    allow: bool
    value: bytes
    pattern: str
    """The value in the one spelling that is compared."""
    line: int


@dataclass
class PlainGroup:
    agents: list[str] = field(default_factory=list)
    """In lower case unless the edition minds case; ``"*"`` for everyone."""
    rules: list[PlainRule] = field(default_factory=list)


def rule_on(body: bytes, url: str | bytes, tokens: Sequence[str], edition: Edition) -> Verdict:
    """The verdict on a URL for a crawler with these product tokens."""
    return rule_by(groups_of(body, edition), url, tokens, edition)


def rule_by(
    groups: list[PlainGroup], url: str | bytes, tokens: Sequence[str], edition: Edition
) -> Verdict:
    """The verdict by the groups of a file."""
    path = path_of(url, edition)
    if edition.robots_txt_allowed and path == "/robots.txt":  # PRE-04
        return Verdict(True, 0)
    return weigh(rules_followed(groups, tokens, edition), path, edition)


# --- lines


def lines_of(body: bytes, edition: Edition) -> Iterator[tuple[int, bytes]]:
    """FMT-02, FMT-05, FMT-12: numbered lines without their ends."""
    if len(body) > edition.parsing_limit:
        limit = edition.parsing_limit
        start = 1 + max(body.rfind(end, 0, limit) for end in (b"\n", b"\r"))
        line = re.split(b"[\r\n]", body[start:])[0]
        value_end = start + len(line.split(b"#")[0].rstrip(edition.whitespace))
        body = body[: limit if value_end <= limit else start]
    for length in (3, 2, 1):
        if body[:length] == BYTE_ORDER_MARK[:length] and (length == 3 or edition.partial_bom):
            body = body[length:]
            break
    yield from enumerate(re.split(b"\r\n|\r|\n", body), 1)


def field_and_value(line: bytes, edition: Edition) -> tuple[str, bytes]:
    """FMT-06 to FMT-14: the field (``""`` if invalid) and the value."""
    if edition.max_line is not None:
        line = line[: edition.max_line]
    if edition.nul_ends_line:
        line = line.split(b"\0")[0]
    content = line.split(b"#")[0].strip(edition.whitespace)
    if b":" in content:
        name, value = content.split(b":", 1)
    elif edition.missing_colon and len(re.split(b"[ \t]+", content)) == 2:
        name, value = re.split(b"[ \t]+", content)
    else:
        return "", b""
    return known_field(name.strip(edition.whitespace).lower(), edition), value.strip(
        edition.whitespace
    )


def known_field(name: bytes, edition: Edition) -> str:
    """FMT-08, FMT-10, FMT-14."""
    for spelling, meaning in edition.known_fields:
        if name == spelling or (edition.fields_by_prefix and name.startswith(spelling)):
            return meaning
    return "other" if name else ""


# --- groups


def groups_of(body: bytes, edition: Edition) -> list[PlainGroup]:
    """GRP-01 to GRP-06."""
    groups: list[PlainGroup] = []
    open_group: PlainGroup | None = None
    for number, line in lines_of(body, edition):
        name, value = field_and_value(line, edition)
        if edition.blank_line_ends_group and not line.strip(edition.whitespace):
            open_group = None  # FMT-15
        elif name == "user-agent":
            if open_group is None or open_group.rules:
                open_group = PlainGroup()
                groups.append(open_group)
            open_group.agents += agents_named(value, edition)
        elif name in ("allow", "disallow") and open_group is not None:
            pattern = with_query(canonical(value, edition), edition)
            open_group.rules.append(PlainRule(name == "allow", value, pattern, number))
    return groups


def agents_named(value: bytes, edition: Edition) -> list[str]:
    """UAG-03, UAG-09, UAG-10: the name on a user-agent line, or none."""
    if edition.whole_agent_names:
        value = value.split(b"/")[0].strip(edition.whitespace)
    if value[:1] == b"*" and (len(value) == 1 or value[1] in edition.whitespace):
        return ["*"]
    if value[:1] == b"*" and edition.star_ignores_text and value[1] not in TOKEN_LETTERS:
        return ["*"]
    name = value
    if not edition.whole_agent_names or value[:1] == b"*":
        end = 0
        while end < len(value) and value[end] in TOKEN_LETTERS:
            end += 1
        name = value[:end]
    if not name and not edition.empty_tokens:
        return []
    return [comparable(name.decode("utf-8", "backslashreplace"), edition)]


def comparable(token: str, edition: Edition) -> str:
    """UAG-02: case does not matter, unless the edition says so."""
    return token if edition.case_sensitive_tokens else token.lower()


# --- choosing the group


def rules_followed(
    groups: list[PlainGroup], tokens: Sequence[str], edition: Edition
) -> list[PlainRule]:
    """UAG-01, UAG-05, UAG-07, GRP-08: the rules of the one combined group followed."""
    names: set[str] = set()
    for token in tokens:
        found = best_names(groups, token, edition)
        if found and (edition.combine_tokens or not names):
            names |= found
    names = names or {"*"}
    return [rule for group in groups if names & own_names(group, edition) for rule in group.rules]


def own_names(group: PlainGroup, edition: Edition) -> set[str]:
    """UAG-10: other names of a 1996 default record do not count."""
    if edition.whole_agent_names and "*" in group.agents:
        return {"*"}
    return set(group.agents)


def best_names(groups: list[PlainGroup], token: str, edition: Edition) -> set[str]:
    """UAG-04, UAG-10: the most specific name that matches a token."""
    wanted = comparable(token, edition)
    if edition.agent_match is AgentMatch.CONTAINED:
        wanted = wanted.split("/")[0].strip()
    matching = [
        name
        for group in groups
        for name in own_names(group, edition) - {"*"}
        if name_matches(name, wanted, edition)
    ]
    return {name for name in matching if len(name) == max(map(len, matching))}


def name_matches(name: str, wanted: str, edition: Edition) -> bool:
    if edition.agent_match is AgentMatch.CONTAINED:
        return name != "" and name in wanted
    if edition.agent_match is AgentMatch.HYPHEN_PREFIX:
        return name == wanted or wanted.startswith(name + "-")
    return name == wanted


# --- paths


def canonical(data: bytes, edition: Edition) -> str:
    """PAT-04, PAT-05, PAT-07, PAT-12: one spelling for rules and URLs."""
    result = ""
    while data:
        escape = re.match(rb"%[0-9A-Fa-f]{2}", data)
        if escape:
            byte, data = int(data[1:3], 16), data[3:]
            if byte in LITERALS and escapes_specials(edition):
                result += LITERALS[byte]
                continue
            decoded = edition.decode_unreserved and chr(byte) in UNRESERVED
            result += chr(byte) if decoded else f"%{byte:02X}"
        elif edition.decode_unreserved and data[:1] == b"%":
            result, data = result + LONE_PERCENT, data[1:]
        else:
            byte, data = data[0], data[1:]
            escaped = byte >= 0x80 or (edition.decode_unreserved and chr(byte) not in URI)
            result += f"%{byte:02X}" if escaped else chr(byte)
    return re.sub(f"{LONE_PERCENT}[a-f]", lambda lone: lone[0].upper(), result)  # PAT-07


def path_of(url: str | bytes, edition: Edition) -> str:
    """PAT-01, PAT-04, PAT-08: path and query of a URL, whole or not."""
    raw = url if isinstance(url, bytes) else url.encode("utf-8", "surrogatepass")
    raw = raw.split(b"#")[0]
    if edition.decode_unreserved:
        raw, mark, query = raw.partition(b"?")
        raw = raw.replace(b"\\", b"/") + mark + query
    delimiters = b"/?;" if edition.semicolon_starts_path else b"/?"
    rest = re.sub(rb"^(//)?([^%b]*://)?" % delimiters, b"", raw)
    start = re.search(b"[%b]" % delimiters, rest)
    path = rest[start.start() :] if start else b""
    text = canonical(path if path[:1] == b"/" else b"/" + path, edition)
    return "".join(escaped_letter(letter, edition) for letter in with_query(text, edition))


def with_query(text: str, edition: Edition) -> str:
    """PAT-12: an apostrophe in a query equals its escape."""
    path, mark, query = text.partition("?")
    if edition.decode_unreserved:
        query = re.sub("'|%27", QUERY_APOSTROPHE, query)
    return path + mark + query


# --- rules


def weigh(rules: list[PlainRule], path: str, edition: Edition) -> Verdict:
    """PRE-01, PRE-02: the longest match, then allow, then the first."""
    matching = [
        (length, rule.allow, -rule.line, rule)
        for rule in rules
        if (length := match_length(rule, path, edition)) is not None
    ]
    if not matching:
        return Verdict(True, 0)
    rule = max(matching, key=lambda match: match[:3])[3]
    return Verdict(rule.allow or rule.value == b"", rule.line)


def match_length(rule: PlainRule, path: str, edition: Edition) -> int | None:
    """The length of a rule's match, or None without a match."""
    if rule.value == b"":  # RUL-02
        return 0 if edition.empty_rules_decide_line else None
    pattern = rule.pattern
    if not pattern.startswith("/"):  # RUL-04
        if edition.slashless is Slashless.ASSUMED:
            pattern = "/" + pattern
        elif edition.slashless is Slashless.NEVER or not pattern.startswith("*"):
            return None
    if pattern_matches(pattern, path, edition):
        return counted_length(pattern, edition)
    index = re.fullmatch(r"(.*/)index\.htm[^/]*", pattern, re.DOTALL)
    if edition.index_html and rule.allow and index:  # PRE-05
        directory = index[1] + "$"
        return len(directory) if pattern_matches(directory, path, edition) else None
    return None


def counted_length(pattern: str, edition: Edition) -> int:
    """PRE-01, PAT-03."""
    if edition.wildcards and not edition.count_trailing_star:
        pattern = pattern.rstrip("*")
    return len(pattern)


def pattern_matches(pattern: str, path: str, edition: Edition) -> bool:
    """PAT-01, PAT-02: keeps every place where the pattern may end."""
    ends = {0}
    letters = re.findall(f"%27|{LONE_PERCENT}[0-9A-F]?|.", pattern, re.DOTALL)
    for index, letter in enumerate(letters):
        if edition.wildcards and letter == "*":
            ends = set(range(min(ends), len(path) + 1)) if ends else ends
        elif edition.wildcards and letter == "$" and index == len(letters) - 1:
            ends &= {len(path)}
        else:
            literals = [escaped_letter(letter, edition)]
            if edition.decode_unreserved and letter in APOSTROPHES:
                literals.append(QUERY_APOSTROPHE)
            is_cut = index == len(letters) - 1 or (edition.wildcards and letters[index + 1] == "*")
            if letter[0] == LONE_PERCENT and is_cut:  # PAT-07
                literals.append("%" + letter[1:])
            ends = {
                end + len(literal)
                for literal in literals
                for end in ends
                if path.startswith(literal, end)
            }
    return bool(ends)


def escaped_letter(letter: str, edition: Edition) -> str:
    """PAT-06: the two special characters equal their escapes everywhere."""
    special = {chr(each): literal for each, literal in LITERALS.items()}
    return special.get(letter, letter) if escapes_specials(edition) else letter


def escapes_specials(edition: Edition) -> bool:
    """PAT-06: false for editions that read as Google's matcher."""
    return edition.decode_unreserved or not edition.wildcards
