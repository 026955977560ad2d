"""The whole example in one command: starts the local site, runs each spider, prints its table.

``python run_all.py [SPIDER …]``; each spider runs as ``scrapy crawl SPIDER`` would. Its report is
compared with the site's log: no refused page was requested.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent
sys.path.insert(0, str(PROJECT))

from example import browser  # noqa: E402 - needs the path above
from example.local import LocalSite  # noqa: E402 - needs the path above
from example.table import table  # noqa: E402

SPIDERS = (
    "robots_01_obey",
    "robots_02_statuses",
    "robots_03_redirects",
    "robots_04_tokens",
    "robots_05_waiting",
    "robots_06_cache",
    "robots_07_ask",
    "robots_08_sitemaps",
    "robots_10_usage",
    "robots_11_evidence",
    "robots_12_browser",
)

#: How often a spider runs, if not once: a cache shows what it is for at the second crawl.
CRAWLS = {"robots_06_cache": 2}

INTRODUCTION = """\
Small crawls of a local site; together they take half a minute. Each table says what a robots.txt
answered, what follows from that, how many pages were crawled and refused, and when the first page
ended. A refused page has a line of its own."""
NEXT = """
Next: read one of example_project/example/spiders (13 to 35 lines each), then docs/tutorial.md."""


def main(words: list[str]) -> int:
    """Run the spiders, print their tables; 0 if all went as it should."""
    spiders = asked_for(words)
    print(INTRODUCTION, flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        site = LocalSite.start("example.responses:ALL_RESPONSES", Path(folder, "site.jsonl"))
        try:
            for spider in spiders:
                faults += feature(spider, site, Path(folder))
        finally:
            site.stop()
    print("\n" + ("\n".join(faults) or "The site's own log agrees: no refused page was asked for."))
    print(NEXT)
    return 1 if faults else 0


def asked_for(words: list[str]) -> tuple[str, ...]:
    """The spiders that a command line names, all without a name.

    Another name ends the program with the list of spiders and exit code 2.
    """
    parser = argparse.ArgumentParser(
        prog="python3 run.py example",
        description="Run small crawls of a local site, one for each feature.",
        epilog="\n".join(["spiders (without a name: all of them):", *map(described, SPIDERS)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spiders", nargs="*", metavar="SPIDER", help="the whole name of a spider")
    named = tuple(parser.parse_args(words).spiders)
    for name in named:
        if name not in SPIDERS:
            parser.error(f"there is no spider {name!r}\n\n{parser.epilog}")
    return named or SPIDERS


def described(spider: str) -> str:
    """A line of the list of spiders."""
    return f"  {spider:<19}  {idea(spider)}"


def feature(spider: str, site: LocalSite, folder: Path) -> list[str]:
    """Run one spider and print what it shows; complaints."""
    print(f"\n{spider}: {idea(spider)}", flush=True)
    lack = missing(spider)
    if lack is not None:
        print(f"left out: {lack}")
        return []
    items: list[dict[str, Any]] = []
    faults: list[str] = []
    for number in range(CRAWLS.get(spider, 1)):
        before, begin = lines(folder / "site.jsonl"), time.monotonic()
        items = crawl(spider, site, folder / f"{spider}-{number}.jsonl", folder)
        seconds = time.monotonic() - begin
        visits = lines(folder / "site.jsonl")[len(before) :]
        fetches = sum(visit["path"] == "/robots.txt" for visit in visits)
        print(f"{len(items)} URLs in {seconds:.1f} s, requests for robots.txt: {fetches}")
        faults += check(spider, items, visits)
    print("\n" + table(items), flush=True)
    if spider == "robots_11_evidence":
        code, answer = replay(folder / "evidence")
        print(f"\nrobotspec replay evidence\n{answer}")
        faults += [f"WRONG: {answer}"] if code else []
    return faults


def missing(spider: str) -> str | None:
    """What has to be installed for a spider; None: nothing."""
    return browser.missing() if spider == "robots_12_browser" else None


def crawl(spider: str, site: LocalSite, results: Path, folder: Path) -> list[dict[str, Any]]:
    """Run one spider; its items."""
    settings = {
        "EXAMPLE_SITE": json.dumps(site.origins),
        "EXAMPLE_RESULTS": str(results),
        "LOG_LEVEL": os.environ.get("LOG_LEVEL", "WARNING"),
    }
    if spider == "robots_06_cache":
        settings["ROBOTSPEC_CACHE"] = f"sqlite:///{folder / 'robots-cache.db'}"
    if spider == "robots_11_evidence":
        settings["ROBOTSPEC_EVIDENCE"] = str(folder / "evidence")
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", spider, *options]
    if subprocess.run(command, cwd=PROJECT, check=False).returncode:
        raise SystemExit(f"{spider} failed; its own message is above")
    return lines(results)


def replay(folder: Path) -> tuple[int, str]:
    """Make the decisions of a crawl again; exit code and answer."""
    command = [sys.executable, "-m", "scrapy_robotspec", "replay", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def lines(path: Path) -> list[dict[str, Any]]:
    """The values of a file of JSON lines; none of a file that is not there."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def idea(spider: str) -> str:
    """The first line of a spider's file."""
    source = (PROJECT / "example" / "spiders" / f"{spider}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]


def check(spider: str, items: list[dict[str, Any]], visits: list[dict[str, Any]]) -> list[str]:
    """Complaints about pages that the site was asked for although they were refused."""
    asked = {(visit["name"], visit["path"]) for visit in visits}
    let_through = {(item["case"], item["path"]) for item in items if item["crawled"]}
    refused = {(item["case"], item["path"]) for item in items if not item["crawled"]}
    nothing = [] if items else [f"WRONG: {spider} crawled nothing"]
    return nothing + [
        f"WRONG: {spider} asked {case} for {path}, which was refused"
        for case, path in sorted(asked & (refused - let_through))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
