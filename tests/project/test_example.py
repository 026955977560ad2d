"""The example project, run as a newcomer runs it: its table is right line by line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run

ROOT = Path(run.__file__).parent
PROJECT = ROOT / "example_project"

PLAIN = """plain 200 its rules decide 5 3
        - /list?session=7 refused by line 5: Disallow: /*?session= # a parameter
        - /paper.pdf refused by line 4: Disallow: /*.pdf$ # an ending
        - /private/a.html refused by line 3: Disallow: /private/ # a directory"""
#: spider → lines of its table, the place of an origin and times left out, blanks made one
EXPECTED = {
    "robots_01_obey": f"""
        {PLAIN}
        closed 200 its rules decide 0 1
        - / refused by line 2: Disallow: /
    """,
    "robots_02_statuses": """
        missing 404 no restrictions 3 0
        locked 403 no restrictions 3 0
        down 503 nothing may be crawled 0 1
        - / refused, unreachable
        broken nothing nothing may be crawled 0 1
        - / refused, unreachable
    """,
    "robots_03_redirects": """
        moved 200 after 5 redirects its rules decide 2 1
        - /private/a.html refused by line 2: Disallow: /private/
        maze 302 after 6 redirects no restrictions 3 0
        circle 302 after 6 redirects no restrictions 3 0
    """,
    "robots_04_tokens": """
        tokens 200 its rules decide 1 2
        - / refused by line 8: Disallow: /
        - /private/a.html refused by line 8: Disallow: /
        tokens, as otherbot 200 its rules decide 0 3
        - / refused by line 2: Disallow: /
        - /news/today.html refused by line 2: Disallow: /
        - /private/a.html refused by line 2: Disallow: /
        tokens, as robotspec-example 200 its rules decide 2 1
        - /private/a.html refused by line 5: Disallow: /private/
    """,
    "robots_05_waiting": f"""
        {PLAIN}
        missing 404 no restrictions 3 0
        busy 200 its rules decide 2 1
        - /private/a.html refused by line 2: Disallow: /private/
    """,
}

#: spider → requests for robots.txt of each of its crawls
REQUESTS = {"robots_01_obey": [2], "robots_04_tokens": [1], "robots_06_cache": [2, 0]}


def python(*arguments: str, cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """Run this Python with these arguments, and this package."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def sections(output: str) -> dict[str, str]:
    """Spider → what is printed of it."""
    parts = re.split(r"\n\n(?=robots_\d\d)", output)[1:]
    found = [part.partition(": ")[::2] for part in parts]
    assert len(dict(found)) == len(found), "a feature is printed twice"
    return dict(found)


def plain(section: str) -> list[str]:
    """Its lines as ``EXPECTED`` has them."""
    text = re.sub(r" http://127\.0\.0\.1:\d+ | +\d+\.\d s$", " ", section, flags=re.MULTILINE)
    return [" ".join(line.split()) for line in text.splitlines() if line]


def first_pages(section: str) -> dict[str, float]:
    """Site → seconds until its first page ended."""
    found = re.findall(r"^(\w+) +http.* (\d+\.\d) s$", section, re.MULTILINE)
    return {name: float(seconds) for name, seconds in found}


def test_the_tour_is_right_line_by_line() -> None:
    """Answers, meanings, counts, lines, waits (FET-02, FET-03, FET-08, FET-10, FET-11, FET-14).

    The site's own log agrees with the spiders, and the evidence of one replays.
    """
    tour = python("run_all.py")
    assert tour.returncode == 0, tour.stderr
    assert tour.stderr == ""
    assert "no refused page was asked for.\n" in tour.stdout
    found = sections(tour.stdout)
    for spider, expected in EXPECTED.items():
        lines = plain(found[spider])
        table = lines[next(i for i, line in enumerate(lines) if line.startswith("site origin")) :]
        assert table[1:] == [line.strip() for line in expected.strip().splitlines()], spider
    for spider, requests in REQUESTS.items():
        times = re.findall(
            r"URLs in \d+\.\d s, requests for robots\.txt: (\d+)$", found[spider], re.M
        )
        assert list(map(int, times)) == requests, spider
    first = first_pages(found["robots_05_waiting"])
    assert max(first["plain"], first["missing"]) < first["busy"]
    replayed = found["robots_11_evidence"].partition("robotspec replay evidence\n")[2]
    assert re.match(r"decisions: (\d+), agree: \1, differ: 0\n", replayed)


def test_the_command_names_its_spiders() -> None:
    """All of them with their ideas, also for one that it does not have."""
    shown = python("run_all.py", "--help")
    assert shown.returncode == 0
    names = {path.stem for path in (PROJECT / "example/spiders").glob("robots_*.py")}
    listed = set(re.findall(r"^  (robots_\w+)  ", shown.stdout, re.MULTILINE))
    assert listed == names - {"robots_09_fleet"}  # it has a command of its own
    _, _, spiders = shown.stdout.partition("\nspiders")
    for name in ("robots_01", "obey", "robots_99_missing"):
        refused = python("run_all.py", "robots_01_obey", name)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"there is no spider {name!r}" in refused.stderr
        assert spiders in refused.stderr


def test_a_spider_needs_no_other_file_of_the_project() -> None:
    """Each can be copied as it stands: one that cannot be imported breaks ``scrapy crawl``."""
    spiders = sorted((PROJECT / "example" / "spiders").glob("robots_*.py"))
    assert len(spiders) > 10
    code = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    done = python("-c", code, *map(str, spiders), cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_a_spider_runs_by_itself_and_on_a_site_that_the_user_names() -> None:
    """``scrapy crawl`` starts the site; ``-a url=`` crawls another one instead."""
    alone = python("-m", "scrapy", "crawl", "robots_01_obey")
    assert alone.returncode == 0, alone.stderr
    assert "its rules decide" in alone.stdout
    command = [sys.executable, "-m", "example.site", "example.responses:ALL_RESPONSES"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as site:
        try:
            assert site.stdout is not None
            url = json.loads(site.stdout.readline())["moved"]
            named = python("-m", "scrapy", "crawl", "robots_01_obey", "-a", f"url={url}/")
        finally:
            site.terminate()
    assert "yours" in named.stdout, named.stderr
    assert "/private/a.html  refused by line 2" in named.stdout


def test_the_comparison_measures_and_ours_is_right() -> None:
    """Twenty first requests under ``Disallow: /``: none is crawled (RUL-05)."""
    result = python("compare.py", "--json", "--only", "first requests at once")
    assert result.returncode == 0, result.stderr
    [row] = json.loads(result.stdout)
    assert row["ours"] == 0
    assert row["scrapy"] is not None


def test_a_fleet_asks_each_origin_once() -> None:
    """CAC-05: two processes, one store, one request for each robots.txt; no page twice."""
    pytest.importorskip("scrapy_redis", reason="scrapy-redis is needed for the fleet")
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is needed for the fleet")
    result = python("fleet.py", "--workers", "2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "together: 400 pages crawled, 40 refused\n" in result.stdout
    assert "40 origins, robots.txt requests for each: 1\n" in result.stdout
    assert "4 of them with a crawl delay of 0.5 s, smallest gap: 0." in result.stdout
    assert "pages crawled too often: 0, disallowed pages crawled: 0\n" in result.stdout


@pytest.mark.parametrize(
    ("times", "too_fast"),
    [
        ([0.5 * n for n in range(10)], False),
        ([0.4, *(0.5 * n for n in range(1, 10))], False),  # the first page was read late
        ([0.5 * n + 0.45 * (n % 3 == 1) for n in range(10)], False),
        ([0.5 * (n // 2) for n in range(10)], True),  # two processes with a pace each
        ([0.4 * n for n in range(10)], True),
    ],
)
def test_a_fleet_that_is_too_fast_is_told_from_a_busy_machine(
    times: list[float], too_fast: bool
) -> None:
    """EXT-01: pages are read late, never early."""
    pages = [{"name": "site00", "path": f"/{n}", "time": time} for n, time in enumerate(times)]
    code = "import fleet, json, sys; print(fleet.is_too_fast(json.loads(sys.argv[1])))"
    assert python("-c", code, json.dumps(pages)).stdout == f"{too_fast}\n"


def test_independent_jobs_keep_one_pace_and_request_each_robots_txt_once() -> None:
    """EXT-01, CAC-05: they share nothing but a file, as under Scrapyd."""
    result = python("fleet.py", "--independent", "--workers", "2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "together: 800 pages crawled, 80 refused\n" in result.stdout
    assert "40 origins, robots.txt requests for each: 1\n" in result.stdout


@pytest.mark.parametrize(
    ("page", "options"), [("README.md", []), ("docs/differences.md", ["--others"])]
)
def test_the_tables_have_the_rows_that_are_measured(page: str, options: list[str]) -> None:
    """No row was added, dropped or reworded since the table was written."""
    measured = python("compare.py", "--list", *options).stdout.splitlines()
    text = (ROOT / page).read_text(encoding="utf-8")
    table = text.partition("begin -->\n")[2].partition("<!--")[0].splitlines()[2:]
    assert [line.split(" | ")[0].removeprefix("| ") for line in table] == measured
    assert all(line.endswith(" |") for line in table)
