"""Conformance cases as JSON lines: what a case is, and how to read a file of them."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HERE = Path(__file__).parent
SPECIFICATIONS = (
    *("rfc9309", "google", "google-2019", "google-2010", "classic"),
    *("original-1994", "draft-1996", "usage", "extensions"),
)
#: Files longer than this are compressed in a case (bytes).
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
    if "file_base64" in data:
        return base64.b64decode(data["file_base64"])
    return gzip.decompress(base64.b64decode(data["file_gzip_base64"]))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
