"""What changes in a crawl: the same small crawls with Scrapy's own middleware and with ours.

``python compare.py`` runs them against the local site and prints the table of the README, in
Markdown, with ``--others`` that of docs/differences.md; ``--json`` prints the figures. The exit
code is 1 when ours is not what the specifications say.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent
sys.path.insert(0, str(PROJECT))

from example.local import LocalSite  # noqa: E402 - needs the path above
from example.responses_compare import SLOW, SLOW_ORIGINS  # noqa: E402

#: Only what a comparison needs is not Scrapy's default.
BOTH = {"ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False}
OURS = {
    "ADDONS": {"scrapy_robotspec.Addon": 500},
    "ROBOTSPEC_HOLD_TIMEOUT": 4,  # the default is five minutes, too long for a comparison
    "ROBOTSPEC_RETRY_TIMES": 1,
}
PAGES = 20


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row: which pages are asked for, and what is read off the crawl."""

    title: str
    cases: tuple[str, ...]
    right: int | None = None  #: pages that ought to be crawled; None: a time is measured
    pages: int = PAGES  #: pages of each case
    first: int | None = 1  #: pages asked for before the others; None: all at once
    timed: str = ""  #: the case whose last page is timed
    domains: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    crawls: int = 1  #: the last of so many is looked at
    in_readme: bool = False  #: else it stands in docs/differences.md


CLOSED = "`Disallow: /`"
SCENARIOS = (
    Scenario(
        f"{PAGES} first requests at once, robots.txt says {CLOSED}",
        ("closed",),
        right=0,
        first=None,
        settings={"CONCURRENT_REQUESTS": 32, "CONCURRENT_REQUESTS_PER_DOMAIN": 32},
        in_readme=True,
    ),
    Scenario(f"404, with {CLOSED} in its body", ("missing",), right=PAGES, in_readme=True),
    Scenario("503", ("down",), right=0, in_readme=True),
    Scenario("the connection breaks", ("broken",), right=0),
    Scenario(f"503 for two seconds, then {CLOSED}", ("busy",), right=0),
    Scenario("503 for two seconds, then everything is allowed", ("back",), right=PAGES),
    Scenario(
        f"a redirect to {CLOSED} on another host, spider with `allowed_domains`",
        ("abroad",),
        right=0,
        domains=("127.0.0.1",),
        in_readme=True,
    ),
    Scenario(f"six redirects to {CLOSED}", ("maze",), right=PAGES),
    Scenario(f"600 KB, {CLOSED} after the first 500 KiB", ("oversized",), right=PAGES),
    Scenario(
        "header `Mozilla/5.0 (compatible; ourbot/1.0)`, "
        "group `mozilla` allows, group `ourbot` does not",
        ("agents",),
        right=0,
        settings={"USER_AGENT": "Mozilla/5.0 (compatible; ourbot/1.0)"},
    ),
    Scenario(
        f"{SLOW_ORIGINS} origins with a robots.txt that takes {SLOW:g} s: "
        "last of 20 pages of a fast origin",
        (*(f"slow{n}" for n in range(SLOW_ORIGINS)), "fast"),
        first=None,
        timed="fast",
        in_readme=True,
    ),
    Scenario(
        "a file of 43 KB made to hurt (2500 names, 1000 rules): one page of that origin",
        ("hostile",),
        pages=1,
        timed="hostile",
    ),
    *(
        Scenario(f"{status}, with {CLOSED} in its body", (f"status{status}",), right)
        for status, right in ((401, PAGES), (403, PAGES), (410, PAGES), (429, PAGES), (500, 0))
    ),
    Scenario("500, with a body that allows everything", ("open500",), right=0),
    Scenario(f"302 that leads nowhere, {CLOSED} in its body", ("nowhere",), PAGES),
    Scenario(f"a redirect to a 404 with {CLOSED} in its body", ("gone",), PAGES),
    Scenario("the connection breaks within the body", ("short",), right=0),
    Scenario(
        f"503 three times, then {CLOSED}; second crawl with `HTTPCACHE_ENABLED`",
        ("turns",),
        right=0,
        crawls=2,
        settings={"HTTPCACHE_ENABLED": True},
    ),
    Scenario(f"group `our` with {CLOSED}, crawler ourbot", ("prefix",), PAGES),
    Scenario(f"group `ourbot/1.2` with {CLOSED}, crawler ourbot", ("version",), 0),
    Scenario(
        f"groups `ourbot` and `x` parted by a `Crawl-delay` line, {CLOSED} below, crawler ourbot",
        ("delay",),
        right=0,
    ),
)


def run(scenario: Scenario, site: LocalSite, settings: dict[str, Any]) -> dict[str, Any]:
    """One crawl in a process of its own: URL → how it ended."""
    urls = [
        f"{site.origins[case]}/page/{number}"
        for case in scenario.cases
        for number in range(1 if case.startswith("slow") else scenario.pages)
    ]
    settings = {**BOTH, **settings, **scenario.settings}
    first, then = urls[: scenario.first], urls[scenario.first :] if scenario.first else []
    task = {"settings": settings, "first": first, "then": then, "domains": scenario.domains}
    command = [sys.executable, "-m", "example.crawl", json.dumps(task)]
    out = subprocess.run(command, cwd=PROJECT, check=True, text=True, stdout=subprocess.PIPE)
    ends: dict[str, Any] = json.loads(out.stdout)
    if missing := set(urls) - set(ends):
        raise RuntimeError(f"{len(missing)} requests had no end, such as {min(missing)}")
    return ends


def figure(scenario: Scenario, site: LocalSite, ends: dict[str, Any]) -> float:
    """What the row shows: pages crawled, or the time of the last page timed (seconds)."""
    if scenario.timed:
        of_interest = site.origins[scenario.timed] + "/"
        return max(end["seconds"] for url, end in ends.items() if url.startswith(of_interest))
    return sum(end["crawled"] for end in ends.values())


def measure(scenario: Scenario, settings: dict[str, Any]) -> float:
    """The figure of one scenario, on a site that has just started."""
    site = LocalSite.start("example.responses_compare:MOODS")
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings = {"USER_AGENT": "ourbot", "HTTPCACHE_DIR": folder, **settings}
            ends = [run(scenario, site, settings) for _ in range(scenario.crawls)]
        return figure(scenario, site, ends[-1])
    finally:
        site.stop()


def cell(scenario: Scenario, value: float) -> str:
    """A figure as the table writes it."""
    if scenario.right is None:
        return f"after {value:.1f} s"
    number = f"{value:g} of {scenario.pages}"
    return number if value == scenario.right else f"**{number}**"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--ours-only", action="store_true", help="leave Scrapy's own out")
    parser.add_argument("--others", action="store_true", help="the rows that the README leaves out")
    parser.add_argument("--list", action="store_true", help="print the rows, measure nothing")
    parser.add_argument("--write", type=Path, help="put the table into this page, too")
    parser.add_argument("--only", default="", help="rows whose title contains this")
    options = parser.parse_args()
    scenarios = [
        row for row in SCENARIOS if options.only in row.title and row.in_readme != options.others
    ]
    if options.list:
        print("\n".join(row.title for row in scenarios))
        return 0
    figures = []
    for row in scenarios:
        print(f"{row.title} …", file=sys.stderr, flush=True)
        stock = None if options.ours_only else measure(row, {})
        figures.append((stock, measure(row, OURS)))
    if options.json:
        rows = zip(scenarios, figures, strict=True)
        print(json.dumps([{"title": r.title, "scrapy": s, "ours": o} for r, (s, o) in rows]))
    else:
        text = markdown(scenarios, figures)
        print(text, end="")
        if options.write:
            put(options.write, "compare --others" if options.others else "compare", text)
    wrong = [
        r for r, (_, ours) in zip(scenarios, figures, strict=True) if r.right not in (None, ours)
    ]
    for row in wrong:
        print(f"WRONG: {row.title}: ours should be {row.right}", file=sys.stderr)
    return 1 if wrong else 0


def markdown(scenarios: list[Scenario], figures: list[tuple[float | None, float]]) -> str:
    """The table; differences from the specifications stand in bold."""
    head = f"| robots.txt … | Scrapy {version('scrapy')} | with this plugin |"
    lines = [head, "|---|---|---|"]
    for row, (stock, ours) in zip(scenarios, figures, strict=True):
        first = "–" if stock is None else cell(row, stock)
        lines.append(f"| {row.title} | {first} | {cell(row, ours)} |")
    return "\n".join(lines) + "\n"


def put(page: Path, name: str, text: str) -> None:
    """Put the table between the two comments of this name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    if not rest:
        raise SystemExit(f"{page} has no line {begin!r}")
    page.write_text(before + begin + text + end + after, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
