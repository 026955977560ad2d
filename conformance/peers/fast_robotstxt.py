"""Asks fast-robotstxt, whose module has the name of another parser's.

It is looked for in the folder ``.peers/fast-robotstxt`` of the repository.
"""

from __future__ import annotations

import base64
import json
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / ".peers" / "fast-robotstxt"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The response to a request."""
    matcher = import_module("robotstxt").RobotsMatcher()
    if request["question"] != "allowed":
        return {"unsupported": request["question"]}
    body = base64.b64decode(request["file_base64"]).decode("utf-8", "replace")
    tokens, url = request["tokens"], request["url"]
    return {"answer": matcher.is_allowed_multi(body, tokens, url)}


def main() -> None:
    """Answer each line; with ``--version``, write the version."""
    sys.path.insert(0, str(FOLDER))
    if sys.argv[1:] == ["--version"]:
        [found] = metadata.distributions(name="fast-robotstxt", path=[str(FOLDER)])
        print(found.version)
        return
    for line in sys.stdin:
        try:
            response = answer(json.loads(line))
        except Exception as error:
            response = {"error": repr(error)}
        print(json.dumps(response), flush=True)


if __name__ == "__main__":
    main()
