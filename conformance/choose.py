"""Chooses ``google.jsonl`` from generated cases: ``python3 -m conformance.choose ALL.jsonl.gz``.

The input are JSON lines, compressed with gzip, with ``robots_b64``, ``tokens``, ``url``,
``allowed`` and ``line`` (0 where no rule decided) as Google's open-source matcher answered, and
``tags``, which name what makes a case hard. The first of equal questions is kept. The ten shortest
files of each tag are taken, then the cases whose pairs of tags are the rarest among those taken
before, short files first. No chance is involved: the same input gives the same file.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.build import as_google_sees, case_id, is_escaped, specifications, to_line
from conformance.cases import HERE, decode_body, encode_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NUMBER = 3_000
STATEMENT = "REF"
#: Taken at a time, before the rarest pairs are counted again.
STEP = NUMBER // 50
#: Taken of each tag before pairs of tags count.
OF_EACH_TAG = 10


def read_generated(path: Path) -> Iterator[dict[str, Any]]:
    """The generated cases, in the form of this suite, without repetition."""
    seen = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = convert(json.loads(line))
            if case["id"] not in seen:
                seen.add(case["id"])
                yield case


def convert(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A generated case in the form of this suite."""
    body, url = base64.b64decode(raw["robots_b64"]), as_google_sees(raw["url"])
    about, stated = specifications()["google"], is_escaped(url)
    return {
        "id": case_id("google", STATEMENT, "allowed", body, raw["tokens"], url),
        "specification": "google",
        "edition": "google",
        "statement": STATEMENT,
        "text": "Google's open-source matcher gives this verdict.",
        "basis": "stated" if stated else "open",
        "source": about["section"].format("robots.cc") if stated else None,
        "link": about["link"].format("robots.cc") if stated else None,
        "question": "allowed",
        **encode_body(body),
        "tokens": raw["tokens"],
        "url": url,
        "expected": raw["allowed"],
        "line": raw["line"],
        "why": f"generated: {', '.join(sorted(raw['tags']))}",
    }


def choose(cases: Iterable[dict[str, Any]], number: int = NUMBER) -> list[dict[str, Any]]:
    """The cases that add most variety."""
    by_size = sorted(cases, key=_size)
    chosen = _of_each_tag(by_size, min(OF_EACH_TAG, max(1, number // 300)))
    seen = Counter(feature for case in chosen for feature in _features(case))
    taken = {case["id"] for case in chosen}
    pool = [(case, _features(case)) for case in by_size if case["id"] not in taken]
    while pool and len(chosen) < number:
        pool.sort(key=lambda one: min(seen[feature] for feature in one[1]))
        for case, features in pool[:STEP]:
            seen.update(features)
            chosen.append(case)
        pool = pool[STEP:]
    return chosen[:number]


def _of_each_tag(cases: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        for tag in tags(case):
            found.setdefault(tag, []).append(case)
    chosen = {case["id"]: case for tag in sorted(found) for case in found[tag][:number]}
    return list(chosen.values())


def tags(case: Mapping[str, Any]) -> list[str]:
    """The tags of a generated case."""
    return str(case["why"]).partition(": ")[2].split(", ")


def _size(case: Mapping[str, Any]) -> int:
    return len(decode_body(case))


def _features(case: Mapping[str, Any]) -> list[tuple[str, ...]]:
    verdict = "allowed" if case["expected"] else "disallowed"
    answer = (verdict, "by a line" if case["line"] else "by none")
    named = tags(case)
    return [answer, *combinations(named, 2), *((tag,) for tag in named)]


def main(arguments: list[str]) -> int:
    """Write ``google.jsonl``."""
    if len(arguments) != 1:
        print("usage: python3 -m conformance.choose ALL.jsonl.gz", file=sys.stderr)
        return 2
    chosen = choose(read_generated(Path(arguments[0])))
    lines = "".join(to_line(case) for case in sorted(chosen, key=lambda case: str(case["id"])))
    (HERE / "google.jsonl").write_text(lines, encoding="ascii", newline="\n")
    print(f"google.jsonl: {len(chosen)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
