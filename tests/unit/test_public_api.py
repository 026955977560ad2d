"""The public names: what the package offers at its root, and that asking for it costs nothing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

import scrapy_robotspec

#: The contract. Adding a name is a decision, removing one breaks crawls.
NAMES = {
    *["Addon", "ConfigurationError", "Decision", "EDITIONS", "Edition", "Finding", "Group"],
    *["ForbiddenByRobots", "ForbiddenUsage", "Origin", "OtherLine", "RobotSpecError"],
    *["RobotSpecMiddleware", "RobotSpecParser", "RobotsTxt", "RobotsUnreachable", "Rule"],
    *["SitemapsFromRobots", "StoreError", "Usage", "UsageStatement", "Verdict"],
    *["WaitingPriorityQueue", "get_edition", "signals"],
}


def run(code: str) -> str:
    """The output of *code* in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(scrapy_robotspec.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    )
    return done.stdout.strip()


def test_the_names_are_those_of_the_contract() -> None:
    assert set(scrapy_robotspec.__all__) == NAMES
    assert set(dir(scrapy_robotspec)) >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(scrapy_robotspec, name) is not None


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="RobotsTXT"):
        _ = scrapy_robotspec.RobotsTXT  # type: ignore[attr-defined]


def test_importing_the_package_imports_only_what_is_tiny() -> None:
    """Errors and signals; everything else, Scrapy and Twisted too, at its first use."""
    names = "scrapy_robotspec.", "scrapy.", "twisted."
    chosen = f"(name for name in sys.modules if name.startswith({names}))"
    loaded = run(f"import sys, scrapy_robotspec; print(*sorted({chosen}))")
    assert loaded == "scrapy_robotspec.errors scrapy_robotspec.signals"


def test_reading_a_file_loads_neither_scrapy_nor_twisted() -> None:
    code = (
        "import sys; from scrapy_robotspec import Decision, EDITIONS, Origin, RobotsTxt, signals;"
        "robots = RobotsTxt.parse(b'User-agent: *\\nDisallow: /');"
        "assert not robots.allowed('http://example.com/', 'foobot');"
        "assert Origin.of('http://example.com/');"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'scrapy', 'twisted'}))"
    )
    assert run(code) == "[]"


def test_naming_the_plugin_loads_no_reactor() -> None:
    """A crawl without a reactor must be able to import the add-on."""
    code = (
        "import sys; from scrapy_robotspec import Addon, RobotSpecMiddleware;"
        "print('twisted.internet.reactor' in sys.modules)"
    )
    assert run(code) == "False"


@pytest.mark.parametrize(
    "name",
    [
        *["Addon", "RobotSpecMiddleware", "RobotSpecParser"],
        *["SitemapsFromRobots", "WaitingPriorityQueue", "Verdict"],
    ],
)
def test_a_class_is_pickled_by_its_home(name: str) -> None:
    value = getattr(scrapy_robotspec, name)
    assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize(
    "name", ["Edition", "Finding", "Group", "OtherLine", "Rule", "UsageStatement", "Verdict"]
)
def test_the_types_of_fields_exist_at_run_time(name: str) -> None:
    """For the documentation, and for libraries that convert values by their types."""
    value = getattr(scrapy_robotspec, name)
    names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
    assert [*get_type_hints(value)] == [*names]
