"""Conformance cases, and how to read them from JSON lines."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HERE = Path(__file__).parent
SPECIFICATIONS = (
    *("rfc9309", "google", "google-2019", "google-2010", "classic"),
    *("original-1994", "draft-1996", "usage", "extensions"),
)
#: Generated files longer than this are compressed in a case (bytes).
COMPRESS_ABOVE = 8_000


@dataclass(frozen=True)
class Case:
    """One question about one robots.txt file, and the answer of one specification."""

    id: str
    specification: str
    question: str
    body: bytes
    tokens: tuple[str, ...]
    url: str | None
    expected: Any
    required: bool
    """Whether the specification says so; False where it leaves the point open."""
    data: Mapping[str, Any]
    """The JSON object as it stands in the file."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """A case from its JSON object."""
        return cls(
            id=data["id"],
            specification=data["specification"],
            question=data["question"],
            body=decode_body(data),
            tokens=tuple(data["tokens"]),
            url=data["url"],
            expected=data["expected"],
            required=data["basis"] == "stated",
            data=data,
        )


def case_files() -> list[Path]:
    """The files of cases that are shipped."""
    return [*(HERE / "cases" / f"{name}.jsonl" for name in SPECIFICATIONS), HERE / "google.jsonl"]


def cases_of(specification: str) -> list[Case]:
    """The cases of one specification, in the order of the files."""
    paths = [HERE / "cases" / f"{specification}.jsonl"]
    return list(read_cases([*paths, HERE / "google.jsonl"] if specification == "google" else paths))


def read_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """The cases of some files, in file order."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            yield from (Case.from_json(json.loads(line)) for line in lines)


def expand(recipe: Sequence[Sequence[Any]]) -> str:
    """The text that a recipe makes: each part repeated by its number.

    In a part that stands there more than once, ``{n}`` is its count from 1, and ``{a}`` the same
    count in letters: a to z, ba, bb and so on.
    """
    return "".join(_repeat(text, times) for text, times in recipe)


def _repeat(text: str, times: int) -> str:
    if times == 1 or not ("{n}" in text or "{a}" in text):
        return text * times
    counts = range(1, times + 1)
    return "".join(text.replace("{n}", str(n)).replace("{a}", _letters(n - 1)) for n in counts)


def _letters(number: int) -> str:
    """A number in letters: a for 0, z for 25, ba for 26."""
    higher, last = divmod(number, 26)
    return (_letters(higher) if higher else "") + chr(ord("a") + last)


def encode_body(body: bytes) -> dict[str, str]:
    """The key and value that hold a robots.txt file in a case."""
    if len(body) > COMPRESS_ABOVE:
        return {"file_gzip_base64": _base64(gzip.compress(body, 9, mtime=0))}
    try:
        return {"file": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"file_base64": _base64(body)}


def decode_body(data: Mapping[str, Any]) -> bytes:
    """The bytes of the robots.txt file of a case."""
    if "file" in data:
        return str(data["file"]).encode()
    if "file_recipe" in data:
        return expand(data["file_recipe"]).encode()
    if "file_base64" in data:
        return base64.b64decode(data["file_base64"])
    return gzip.decompress(base64.b64decode(data["file_gzip_base64"]))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
