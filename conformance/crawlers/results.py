"""The outcomes kept in ``results.json``, which belong to the situations of today."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.crawlers.situations import SITUATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULTS = Path(__file__).parent / "results.json"


def digest() -> str:
    """A hash of the situations without their words."""
    bare = {
        name: replace(situation, topic="", about="", fault="")
        for name, situation in SITUATIONS.items()
    }
    text = repr([*bare.items()])
    return hashlib.sha256(text.encode()).hexdigest()


def read() -> dict[str, Any]:
    """The results kept; none if they belong to other situations."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return kept if kept.get("situations") == digest() else {"situations": digest(), "programs": {}}


def write(programs: Mapping[str, Any]) -> None:
    """Keep the results of these programs, in this order."""
    kept = {"situations": digest(), "programs": dict(programs)}
    RESULTS.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")
