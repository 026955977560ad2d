"""Hold the edition ``google`` against verdicts of Google's own matcher.

    python tests/spec/conformance/run.py CASES.jsonl.gz
    python tests/spec/conformance/run.py CASES.jsonl.gz --choose 3000 CHOSEN.jsonl.gz

Each line of the file is a JSON object: ``robots_b64``, ``tokens``, ``url``, ``allowed``, ``line``
(0 where no rule decided) and ``tags``. Only reading, comparing and choosing cases belongs here. The
exit code is 0 if all verdicts and lines agree, else 1.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3]))  # where run from a clone

from scrapy_robotspec.protocol.fast.compiled import COMPILE_AFTER
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Case(NamedTuple):
    """One question, with Google's answer."""

    body: bytes
    tokens: list[str]
    url: str
    allowed: bool
    line: int
    tags: list[str]
    text: str
    """The case as it stands in the file."""


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for text in lines:
            case = json.loads(text)
            body = base64.b64decode(case["robots_b64"])
            answer = case["allowed"], case["line"]
            yield Case(body, case["tokens"], case["url"], *answer, case["tags"], text)


def differences(case: Case) -> Iterator[str]:
    """The package's deviations, asked before and after it has compiled the rules."""
    robots = RobotsTxt.parse(case.body, "google")
    for _ in range(COMPILE_AFTER):  # two questions each
        verdict = robots.explain(case.url, case.tokens)
        found = verdict.allowed, verdict.rule.line if verdict.rule else 0
        if found != (case.allowed, case.line):
            yield f"{found} where Google says {(case.allowed, case.line)}: {case.text}"
        if robots.allowed(case.url, case.tokens) != case.allowed:
            yield f"allowed() says otherwise than Google: {case.text}"


def choose(cases: Iterable[Case], number: int) -> list[Case]:
    """The cases that add most variety: those with the rarest pairs of tags first.

    Each pair's share shrinks with every case taken that has it. So no pair fills the choice, and
    none that occurs at all is left out.
    """
    pool = [(case, _features(case)) for case in cases]
    seen: Counter[tuple[str, ...]] = Counter()
    chosen: list[Case] = []
    while pool and len(chosen) < number:
        pool.sort(key=lambda one: min((seen[feature] for feature in one[1]), default=0))
        step = max(1, number // 50)
        for case, features in pool[:step]:
            seen.update(features)
            chosen.append(case)
        pool = pool[step:]
    return chosen[:number]


def _features(case: Case) -> list[tuple[str, ...]]:
    answer = ("allowed" if case.allowed else "forbidden", "by a line" if case.line else "by none")
    return [answer, *combinations(sorted(case.tags), 2), *((tag,) for tag in case.tags)]


def main(arguments: list[str] | None = None) -> int:
    """Compare, or choose; see the head of this file."""
    parser = argparse.ArgumentParser(description="Compare the edition google with Google's matcher")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--choose", nargs=2, metavar=("NUMBER", "FILE"))
    options = parser.parse_args(arguments)
    cases = list(read_cases(options.cases))
    if options.choose:
        texts = [case.text for case in choose(cases, int(options.choose[0]))]
        data = gzip.compress("".join(texts).encode(), 9, mtime=0)
        Path(options.choose[1]).write_bytes(data)
        return 0
    wrong = [difference for case in cases for difference in differences(case)]
    print(*wrong[:10], f"{len(cases)} cases, {len(wrong)} differences", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
