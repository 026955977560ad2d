"""Writes ``cases/*.jsonl`` from the tables: ``python3 -m conformance.build``.

Edit ``tables/*.toml``, ``statements.toml`` or ``specifications.toml`` and run this again. Nothing
else writes these files, and a test compares them with the tables.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from conformance.cases import HERE, encode_body
from conformance.tables import Answer, Ask, TableCase, read_tables, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Specifications that say where a robots.txt applies.
LOCATION_SPECIFICATIONS = ("rfc9309", "google-2019", "google-2010")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
#: The characters of a URI, and escapes (RFC 3986, section 2).
_ESCAPED_URL = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


@cache
def specifications() -> Mapping[str, Mapping[str, str]]:
    """``specifications.toml``: title, edition, section and link by specification."""
    return read_toml(HERE / "specifications.toml")


@cache
def statements() -> Mapping[str, Mapping[str, Any]]:
    """``statements.toml``: words and sections by statement."""
    return read_toml(HERE / "statements.toml")


def build() -> dict[str, list[dict[str, Any]]]:
    """The cases of all tables, by specification."""
    cases: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in specifications()}
    for case in read_tables():
        for specification in [case.specification] if case.specification else case.editions:
            for data in _cases(case, specification):
                cases[specification].setdefault(_question(data), data)
    for specification in LOCATION_SPECIFICATIONS:
        for data in _locations(specification):
            cases[specification].setdefault(_question(data), data)
    return {name: list(found.values()) for name, found in cases.items()}


def to_line(data: Mapping[str, Any]) -> str:
    """A case as a line of a file."""
    return json.dumps(data) + "\n"


def case_id(
    specification: str,
    statement: str,
    question: str,
    body: bytes,
    tokens: Sequence[str],
    url: str | None,
) -> str:
    """A unique name, which changes with the contents of the case."""
    parts = [specification, question, b64encode(body).decode(), list(tokens), url]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return f"{specification}/{statement}/{digest[:10]}"


def as_google_sees(url: str) -> str:
    """The URL as Google's matcher expects it: escaped in upper case."""
    ascii_url = "".join(char if char.isascii() else quote(char) for char in url)
    return _ESCAPE.sub(lambda match: match[0].upper(), ascii_url)


def is_escaped(url: str) -> bool:
    """Whether a URL is escaped as Google's matcher demands."""
    return _ESCAPED_URL.fullmatch(url) is not None


def _question(data: Mapping[str, Any]) -> str:
    """The hash in a case's ID, which no two cases of a specification share."""
    return str(data["id"]).rpartition("/")[2]


def _cases(case: TableCase, specification: str) -> Iterator[dict[str, Any]]:
    edition = specifications()[specification]["edition"]
    for ask in case.asks:
        answer = ask.answers[edition]
        if answer is None and ask.question == "allowed":
            continue  # a token that only this package refuses
        yield _case(case, ask, specification, answer)


def _case(case: TableCase, ask: Ask, specification: str, answer: Any) -> dict[str, Any]:
    about_url = ask.question in ("allowed", "usage")
    url = as_google_sees(ask.url) if specification == "google" else ask.url
    tokens = [] if ask.question in ("sitemaps", "licenses") else list(ask.tokens)
    name = case.ids[0]
    is_open = specification in ask.open or (specification == "google" and not is_escaped(url))
    return {
        "id": case_id(
            specification, name, ask.question, case.body, tokens, url if about_url else None
        ),
        "specification": specification,
        "edition": specifications()[specification]["edition"] or None,
        **_statement(name, specification, is_open),
        "question": ask.question,
        **({"file_recipe": case.recipe} if case.recipe else encode_body(case.body)),
        "tokens": tokens,
        "url": url if about_url else None,
        "expected": answer.allowed if isinstance(answer, Answer) else answer,
        **({"line": answer.line} if isinstance(answer, Answer) else {}),
        "why": case.why,
    }


def _locations(specification: str) -> Iterator[dict[str, Any]]:
    """The cases of ``location.toml``: does the robots.txt at one URL apply to another?"""
    for row in read_toml(HERE / "location.toml")["file"]:
        name, robots_url = row["ids"][0], row["robots"]
        for applies, url in [(True, url) for url in row["valid"]] + [
            (False, url) for url in row["invalid"]
        ]:
            yield {
                "id": case_id(specification, name, "applies", robots_url.encode(), [], url),
                "specification": specification,
                "edition": specification,
                **_statement(name, specification, False),
                "question": "applies",
                "file": "",
                "tokens": [],
                "url": url,
                "robots_url": robots_url,
                "expected": applies,
                "why": f"{robots_url} {'applies' if applies else 'does not apply'} to {url}",
            }


def _statement(name: str, specification: str, is_open: bool) -> dict[str, Any]:
    statement, about = statements()[name], specifications()[specification]
    section = None if is_open else statement["sections"].get(specification)
    anchor = re.sub("[^a-z0-9.]+", "-", section.lower()) if section else ""
    link = statement.get("links", {}).get(specification, about["link"].format(anchor))
    return {
        "statement": name,
        "text": statement.get("differs", {}).get(specification, statement["says"]),
        "basis": "stated" if section else "open",
        "source": about["section"].format(section) if section else None,
        "link": link if section else None,
    }


def main() -> None:
    """Write the files."""
    (HERE / "cases").mkdir(exist_ok=True)
    for specification, cases in build().items():
        text = "".join(map(to_line, cases))
        path = HERE / "cases" / f"{specification}.jsonl"
        path.write_text(text, encoding="ascii", newline="\n")
        print(f"{path.name}: {len(cases)} cases")


if __name__ == "__main__":
    main()
