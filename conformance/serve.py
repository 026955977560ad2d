"""Answers requests on stdin with an adapter: ``python3 -m conformance.serve protego``.

This is the protocol of README.md, so the Python parsers are run as all others are.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

from conformance.adapters import ADAPTERS, UnsupportedError

if TYPE_CHECKING:
    from conformance.adapters import Answer


def respond(answer: Answer, request: dict[str, Any]) -> dict[str, Any]:
    """The response to a request."""
    try:
        body = base64.b64decode(request["file_base64"])
        given = answer(
            request["question"],
            body,
            request["tokens"],
            request["url"] or "",
            request,
        )
    except UnsupportedError as error:
        return {"unsupported": str(error)}
    except Exception as error:  # whatever a parser raises is its result
        return {"error": f"{type(error).__name__}: {error}"}
    return {"answer": given}


def main(arguments: list[str]) -> int:
    """Serve until stdin ends."""
    if len(arguments) != 1 or arguments[0] not in ADAPTERS:
        print(f"usage: python3 -m conformance.serve {'|'.join(ADAPTERS)}", file=sys.stderr)
        return 2
    answer = ADAPTERS[arguments[0]]()
    stdout, sys.stdout = sys.stdout, sys.stderr  # a parser's own output is not a response
    for line in sys.stdin:
        print(json.dumps(respond(answer, json.loads(line))), file=stdout, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
