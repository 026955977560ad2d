"""The requests of a crawler in a situation, and words for them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from conformance.crawlers.situations import CLOSED, OPEN, SITUATIONS, TARGET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.crawlers.site import Request
    from conformance.crawlers.situations import Situation

    #: Paths that were requested, by situation.
    Outcomes = Mapping[str, Sequence[str]]

#: Meanings that a crawler gives to a status.
ALLOWED, PARSED, REFUSED = "allowed", "read as rules", "refused"


def requested(situation: Situation, requests: Iterable[Request]) -> list[str]:
    """Paths of the situation that were requested, its robots.txt among them."""
    known = (*situation.allowed, *situation.disallowed, "/", "/robots.txt", TARGET)
    seen = {unquote(request.target) for request in requests}
    return sorted(path for path in set(known) if unquote(path) in seen)


def conforms(situation: Situation, paths: Iterable[str]) -> bool:
    """Whether a crawler fetched the pages that RFC 9309 allows, alone."""
    return set(situation.allowed) <= set(paths) and not set(situation.disallowed) & set(paths)


def of_status(paths: Sequence[str]) -> str:
    """The meaning that a crawler gave to a response."""
    if OPEN not in paths:
        return REFUSED
    return ALLOWED if CLOSED in paths else PARSED


def statuses(outcomes: Outcomes, names: Sequence[str]) -> str:
    """The meaning of most statuses, and the others by number."""
    meanings = {name.removeprefix("status-"): of_status(outcomes[name]) for name in names}
    words = [*meanings.values()]
    usual = max(words, key=words.count)
    others = {
        word: ", ".join(name for name in meanings if meanings[name] == word)
        for word in dict.fromkeys(words)
        if word != usual
    }
    return "; ".join([usual, *(f"{names} {word}" for word, names in others.items())])


def redirects(outcomes: Outcomes) -> str:
    """Whether a redirected robots.txt is found."""
    names = ("redirect", "redirect-origin", "redirect-five")
    followed = [name for name in names if conforms(SITUATIONS[name], outcomes[name])]
    if len(followed) == len(names):
        return "yes"
    if not followed:
        return "not applied" if TARGET in outcomes["redirect"] else "no"
    words = {"redirect": "one", "redirect-origin": "another origin", "redirect-five": "five"}
    return f"not {', '.join(words[name] for name in names if name not in followed)}"


def groups(outcomes: Outcomes) -> str:
    """The group obeyed, of an own one and the default one."""
    words = set()
    for name in ("own-above", "own-below"):
        own, star = (f"/{each}/page.html" not in outcomes[name] for each in ("own", "star"))
        words.add({(1, 0): "own", (0, 1): "`*`", (1, 1): "both", (0, 0): "none"}[own, star])
    return words.pop() if len(words) == 1 else "by order"


def allows(outcomes: Outcomes) -> str:
    """The rule that wins where ``Allow`` and ``Disallow`` match."""
    below, above, folder = (
        SITUATIONS[name].allowed[0] in outcomes[name]
        for name in ("allow-below", "allow-above", "allow-folder")
    )
    known = {
        (True, True, True, True): "longest",
        (False, True, True, False): "first",
        (True, False, True, True): "last",
        (True, True, True, False): "`Allow`",
        (False, False, True, True): "ignored",
    }
    closed = CLOSED not in outcomes["allow-folder"]
    return known.get((below, above, folder, closed), "otherwise")


def rules(outcomes: Outcomes) -> str:
    """The rule that wins, and the special characters that have a meaning."""
    known = [
        character
        for name, character in (("star", "`*`"), ("anchor", "`$`"))
        if conforms(SITUATIONS[name], outcomes[name])
    ]
    return ", ".join([allows(outcomes), *known])


def faults(outcomes: Outcomes) -> list[str]:
    """Words for all else that differs from RFC 9309."""
    found = [
        situation.fault
        for name, situation in SITUATIONS.items()
        if situation.fault and not conforms(situation, outcomes[name])
    ]
    return [*dict.fromkeys(found)]


def asks(outcomes: Outcomes) -> bool:
    """Whether the crawler requests robots.txt at all."""
    return any("/robots.txt" in paths for paths in outcomes.values())
