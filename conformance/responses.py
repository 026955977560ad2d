"""A parser's line of output: a response of README.md, or garbage."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["answer", "unsupported", "error", "crash", "hang", "garbage", "not asked"]
_KINDS: tuple[Kind, ...] = ("answer", "unsupported", "error")


@dataclass(frozen=True)
class Response:
    """A parser's reaction to a request."""

    kind: Kind
    value: Any
    """The answer, or what happened in words."""


def read_response(line: bytes, request: Mapping[str, Any]) -> Response:
    """The response to a request that a line contains.

    A key with the value null counts as missing, but for a null that is the answer.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return garbage("not JSON", line)
    if not isinstance(data, dict) or not line.endswith(b"\n"):
        return garbage("neither answer, unsupported nor error", line)
    if data.get("id", request.get("id")) != request.get("id"):
        return garbage("the id of another request", line)
    given = [kind for kind in _KINDS if data.get(kind) is not None]
    if len(given) > 1:
        return garbage(f"{' and '.join(given)} in one response", line)
    if not given and "answer" not in data:
        return garbage("neither answer, unsupported nor error", line)
    kind = given[0] if given else "answer"
    return Response(kind, data[kind])


def garbage(what: str, line: bytes) -> Response:
    """The response for a line that is none."""
    return Response("garbage", f"{what}: {line[:80].decode('utf-8', 'replace').rstrip()!r}")
