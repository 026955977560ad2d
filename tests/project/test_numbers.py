"""Numbers on the pages are those of the code: defaults, bounds, times, and how many of a thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import run
from scrapy_robotspec.cli.session import BROKEN
from scrapy_robotspec.editions import DAY, EDITIONS, HOUR, get_edition
from scrapy_robotspec.plugin.settings.settings import Settings

ROOT = Path(run.__file__).parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
MIB, KIB, DAYS = 1 << 20, 1 << 10, DAY


@cache
def text_of(page: str) -> str:
    """A page on one line."""
    path = next(path for path in PAGES if path.name == page)
    return " ".join(path.read_text(encoding="utf-8").split())


@cache
def constants() -> dict[str, set[float]]:
    """Module and name → its numbers, e.g. ``base.KEPT``."""
    found: dict[str, set[float]] = {}
    for path in (ROOT / "scrapy_robotspec").rglob("*.py"):
        for name, value in numbers(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(f"{path.stem}.{name}", set()).add(value)
    return found


def numbers(module: ast.Module) -> Iterator[tuple[str, float]]:
    """What a module names, also in a class, if it is computed from numbers alone."""
    known: dict[str, object] = {"HOUR": HOUR, "DAY": DAY}
    for node in ast.walk(module):
        if not isinstance(node, ast.Assign):
            continue
        (target,) = node.targets[:1]
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, expression in pairs:
            value = number_of(expression, known)
            if isinstance(name, ast.Name) and value is not None:
                known[name.id] = value
                yield name.id, float(value)


def number_of(expression: ast.expr, known: dict[str, object]) -> float | None:
    """The number that an expression without calls stands for; None if it is something else."""
    with suppress(Exception):
        code = compile(ast.Expression(expression), "", "eval")
        value = eval(code, {"__builtins__": {}}, known)
        return value if isinstance(value, int | float) else None
    return None


#: page, a passage whose number is left out, the constant's module and name, and its unit.
PASSAGES: list[tuple[str, str, str, float]] = [
    ("architecture.md", "`ROBOTSPEC_CONCURRENT_FETCHES` × {} |", "limiter.BURST_FACTOR", 1),
    ("architecture.md", "| {} unreachable origins,", "crawl_account.ORIGINS_COUNTED", 1),
    ("architecture.md", "unreachable origins, {} rules;", "crawl_account.RULES_COUNTED", 0.5),
    ("architecture.md", "; {} origins, 100 rules", "origin_rows.MAX_ORIGINS", 1),
    ("architecture.md", "| {} MiB; 20,000 origins |", "recorder.MAX_QUEUED", MIB),
    ("architecture.md", "| 64 MiB; {} origins |", "observer._MAX_ORIGINS", 1),
    ("architecture.md", "100,000 origins, {} rules of each", "origin_rows.MAX_RULES", 1),
    ("browser.md", "after {}% of playwright's navigation timeout", "guard._PART", 0.01),
    ("browser.md", "_DEFAULT_NAVIGATION_TIMEOUT`, {} seconds)", "guard._NAVIGATION_TIMEOUT", 1e3),
    ("bulk.md", "Only the first {} MiB of a body are read", "documents.MAX_BODY", MIB),
    ("bulk.md", "text of the deciding line, at most {} characters", "batches.MAX_TEXT", 1),
    ("command-line.md", "at most 50 MB and {} URLs", "sitemap.MAX_URLS", 1),
    ("command-line.md", "A sitemap has at most {} MB", "sitemap.MAX_BYTES", MIB),
    ("command-line.md", "It shows at most {}", "as_html.MOST_ROWS", 1),
    ("command-line.md", "if they have more than {} lines together", "options.MAX_LINES", 1),
    ("evidence.md", "and a second for each {} kB of log", "run_reader._BYTES_PER_SECOND", 1e3),
    ("evidence.md", "processor time** than {} minutes and", "run_reader.SECONDS", 60),
    ("evidence.md", "waits in memory, up to {} MiB", "recorder.MAX_QUEUED", MIB),
    ("lint.md", "the text lists {} of", "lint.LISTED", 1),
    ("lint.md", "from {} letters on", "crawlers._LONG", 1),
    ("performance.md", "holds the origin ({} MB,", "memory.GRANTED", MIB),
    (
        "performance.md",
        "records beyond {} origins move to a temporary file",
        "memory.MAX_RECORDS",
        1,
    ),
    ("scaling.md", "an origin has at most {} such records", "base.MAX_AGENTS", 1),
    ("scaling.md", "`memory://?max={}` (the default)", "memory.MAX_RECORDS", 1),
    ("scaling.md", "(the default) keeps {} origins", "memory.MAX_RECORDS", 1),
    ("scaling.md", "origins in memory, at most {} KB each", "memory._AVERAGE", KIB),
    ("scaling.md", "each on average or {} MB in all", "memory.GRANTED", MIB),
    ("scaling.md", "Records unchanged for {} days are deleted", "base.KEPT", DAYS),
    ("scaling.md", "A record expires {} days after", "base.KEPT", DAYS),
    ("scaling.md", "`PREFIX:{}:{{http", "redis._VERSION", 1),
    ("scaling.md", "another worker does so within {} seconds", "redis_parking.LIFETIME", 1),
    ("scaling.md", "at most every {} s.", "shared_lookup.POLL_MAX", 1 / 1.5),
    ("scaling.md", "`ROBOTSPEC_FETCH_TIMEOUT` plus {} seconds", "crawl_runtime._LEASE_MARGIN", 1),
    ("scaling.md", "Slots are {}% longer than the delay", "fleet_pace._MARGIN", 0.01),
    ("scaling.md", "at least {} ms and at most 250 ms", "fleet_pace._MARGIN_MIN", 0.001),
    ("scaling.md", "at least 15 ms and at most {} ms", "fleet_pace._MARGIN_MAX", 0.001),
    ("scaling.md", "asks for a slot at most {} second ahead", "base.HORIZON", 1),
    (
        "scaling.md",
        "a line of killed processes is noticed within {} seconds",
        "fleet_pace._LOOK_MAX",
        1,
    ),
    ("scaling.md", "{} seconds after it notices the loss", "tiered_store.PAUSE", 5 / 6),
    ("scaling.md", "until {} seconds after the store is back", "tiered_store.PAUSE", 0.5),
    ("security.md", "A body with more than {} layers", "decoding._MAX_LAYERS", 1),
    ("security.md", "with more than {} hundred streams in one layer", "decoding._MAX_STREAMS", 100),
    ("security.md", "a host of more than {} thousand letters", "origin.MAX_MAPPED", 1000),
    ("security.md", "or longer than {} MB reads as absent", "record._MAX_SIZE", MIB),
    ("settings.md", "A lifetime is always at least {} seconds", "settings._SHORTEST_LIFE", 1),
    ("settings.md", "refreshed in the background from {}% of", "policy.REFRESH_FROM", 0.01),
    ("settings.md", "when the crawl ends, for at most {} seconds", "timestamp._TIMEOUT", 1),
    ("settings.md", "contains the first {} requests of each kind", "dry_run._EXAMPLES", 1),
    ("spiders.md", "from the first {} lines; see below", "request_policy.MOST_LINES", 1),
    ("waiting.md", "its copy has passed {}% of its lifetime", "policy.REFRESH_FROM", 0.01),
    ("waiting.md", "response of any site in the last {} minutes", "routes.PROVEN_FOR", 60),
    ("waiting.md", "if more than {} origins have the same failure", "progress.MAX_LINES", 1),
    ("waiting.md", "At most {} disk queues have open files", "disk_queues.MAX_OPEN", 1),
    (
        "waiting.md",
        "All fetches together are at most {} times the limit",
        "limiter.BURST_FACTOR",
        1,
    ),
    ("waiting.md", "one that has run for at least {} seconds", "limiter.PREEMPT_AFTER", 1),
    ("waiting.md", "for longer than {} s at a time", "loop_time.TICK", 1),
    ("waiting.md", "late by more than {} s", "loop_time.LATE", 1),
    ("why.md", "up to {} URLs for each rule that refused", "origin_rows.MAX_EXAMPLES", 1),
    ("why.md", "files of a crawl of up to {} sites", "crawl_report.MAX_FILES", 1),
    ("why.md", "The file names at most {} origins", "origin_rows.MAX_ORIGINS", 1),
    ("why.md", "a long wait first; {} rules of one", "origin_rows.MAX_RULES", 1),
    ("why.md", "rules of one, {} in all", "origin_rows.MAX_ALL_RULES", 1),
    ("why.md", "in all; {} URLs", "origin_rows.MAX_ALL_EXAMPLES", 1),
    ("why.md", "own disk queues use at most {} files", "disk_queues.MAX_OPEN", 0.5),
]  # fmt: skip


def spellings(value: float) -> set[str]:
    """A number as the pages write it."""
    digits = f"{value:,.10g}"
    words = {WORDS[int(value)]} if value in range(len(WORDS)) else set()
    words |= {"a"} if value == 1 else set()
    return {digits, digits.replace(",", ""), *words}


@pytest.mark.parametrize(("page", "passage", "name", "unit"), PASSAGES)
def test_a_number_is_that_of_the_code(page: str, passage: str, name: str, unit: float) -> None:
    (value,) = constants()[name]
    before, after = passage.format("\0").split("\0")
    pattern = rf"{re.escape(before)}([\w.,]*\w){re.escape(after)}"
    found = set(re.findall(pattern, text_of(page)))
    assert found, "the passage is not on the page"
    assert found <= spellings(round(value / unit, 6))


def test_a_default_after_the_name_of_a_setting_is_that_of_the_code() -> None:
    """``ROBOTSPEC_MAX_PARKED`` (1,000), on any page."""
    standard = Settings()
    defaults = {name: getattr(standard, field.name) for name, field in Settings.names().items()}
    said = [
        (page.name, name, value.replace(",", ""))
        for page in PAGES
        for name, value in re.findall(
            r"`(ROBOTSPEC_\w+)`\)? \(([\d.,]+)(?: s)?\)", text_of(page.name)
        )
    ]
    assert len(said) > 10
    assert [each for each in said if float(each[2]) != defaults[each[1]]] == []


def test_the_numbers_of_the_readme_are_those_of_the_code() -> None:
    readme = text_of("README.md")
    minutes = int(Settings().hold_timeout / 60)
    assert f"after `ROBOTSPEC_HOLD_TIMEOUT` ({WORDS[minutes]} minutes)" in readme
    assert f"after {WORDS[Settings().retry_times + 1]} attempts" in readme
    assert f"selects one of {WORDS[len(EDITIONS)]} [editions]" in readme


def test_the_times_of_an_outage_are_those_of_the_editions() -> None:
    usual, google = get_edition("google-2019"), get_edition("google")
    days, hours = usual.stale_after / DAY, google.stale_after / HOUR
    assert f"for how long: {days:g} days, or {hours:g} hours in `google`" in text_of("waiting.md")


def test_every_fetch_of_the_page_of_waiting_is_counted_alike() -> None:
    """Limit and factor stand in other sentences of the page, their product in some."""
    (factor,) = constants()["limiter.BURST_FACTOR"]
    (preempted,) = constants()["limiter.PREEMPT_AFTER"]
    at_most = round(Settings().concurrent_fetches * factor)
    page = text_of("waiting.md")
    assert set(re.findall(r"(\d+) fetches", page)) == {str(at_most)}
    assert f"times the limit ({at_most})" in page
    assert f"without a response for {preempted / factor:.1f} seconds" in page


def test_each_code_of_an_exit_is_on_the_page() -> None:
    """And no other."""
    table = re.findall(
        r"^\| (\d+(?:, \d+)*) \|", (ROOT / "docs/command-line.md").read_text("utf-8"), re.M
    )
    shown = {int(code) for codes in table for code in codes.split(", ")}
    module = ast.parse((ROOT / "scrapy_robotspec/cli/session.py").read_text(encoding="utf-8"))
    assert shown == {int(value) for name, value in numbers(module) if name != "MOST"}
    assert BROKEN in shown
