"""The distributions: metadata, and no file missing in a source distribution."""

from __future__ import annotations

import argparse
import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import run
from scrapy_robotspec import __version__
from scrapy_robotspec.cli.app import COMMANDS

ROOT = Path(run.__file__).parent


@pytest.fixture(scope="module")
def setup() -> configparser.ConfigParser:
    """setup.cfg, read."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The files that belong to the repository."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no repository, so nothing tells which files belong to it")
    return subprocess.check_output(command, cwd=ROOT, text=True).splitlines()


def test_each_python_has_a_classifier_and_a_tox_environment(
    setup: configparser.ConfigParser,
) -> None:
    """No version is promised without being tested."""
    promised = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    assert promised[0] == setup["options"]["python_requires"].removeprefix(">=")
    tested = re.findall(r"\bpy3(\d+)\b", tox.partition("envlist")[2].partition("isolated")[0])
    assert promised == [f"3.{minor}" for minor in tested]


def test_the_oldest_pins_are_what_setup_cfg_promises(setup: configparser.ConfigParser) -> None:
    """The lowest versions that install are those that .ci/oldest.txt tests."""
    pins = dict(re.findall(r"^([\w.-]+)==([\d.]+)", read(".ci/oldest.txt"), re.MULTILINE))
    extras = setup["options.extras_require"]
    needed = [setup["options"]["install_requires"]]
    needed += [extras[name] for name in ("bulk", "redis")]
    for name, lowest in re.findall(r"([\w.-]+)>=([\d.]+)", "\n".join(needed)):
        assert (pins[name.lower()] + ".").startswith(lowest + "."), name


def test_the_version_has_one_home(setup: configparser.ConfigParser) -> None:
    """What others cite is the version of the package."""
    assert setup["metadata"]["version"] == "attr: scrapy_robotspec._version.__version__"
    assert f"\nversion: {__version__}\n" in read("CITATION.cff")


def test_the_changelog_keeps_its_form() -> None:
    """Keep a Changelog 1.1.0: versions with dates, the newest first, six kinds of changes."""
    changelog = read("CHANGELOG.md")
    newest, *older = re.findall(r"^## (.*)", changelog, re.MULTILINE)
    released = re.compile(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}")
    assert newest == "[Unreleased]" or newest.startswith(f"[{__version__}] - ")
    assert all(released.fullmatch(each) for each in older)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)", changelog, re.MULTILINE)) <= kinds


def test_the_hook_of_pre_commit_lints_robots_txt_files() -> None:
    """It names a command and an option that there are, and finds the files."""
    hook = dict(re.findall(r"^[- ] (\w+): (.*)$", read(".pre-commit-hooks.yaml"), re.MULTILINE))
    program, command = hook["entry"].split()
    assert program in read("setup.cfg")
    assert command in COMMANDS
    names = ("robots.txt", "public/robots.txt", "robots.txt.bak", "norobots.txt")
    assert [bool(re.search(hook["files"], name)) for name in names] == [True, True, False, False]
    assert f"`id: {hook['id']}`" in read("docs/command-line.md")


def test_manifest_covers_every_tracked_file(tracked: list[str]) -> None:
    """The source distribution lacks nothing but what only a repository needs."""
    manifest = read("MANIFEST.in")
    grafted = tuple(f"{name}/" for name in re.findall(r"^graft (\S+)", manifest, re.MULTILINE))
    included = set(" ".join(re.findall(r"^include (.*)", manifest, re.MULTILINE)).split())
    always = {"setup.cfg", "pyproject.toml", "MANIFEST.in", ".gitignore"}
    missing = [
        name
        for name in tracked
        if not name.startswith((*grafted, "scrapy_robotspec/", ".github/"))
        and name not in included | always
    ]
    assert missing == []


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_actions_are_pinned() -> None:
    """By the hash of a commit, with its version for a reader and for the bot that renews it."""
    uses = [use for path in WORKFLOWS for use in re.findall(r"uses: (.*)", path.read_text("utf-8"))]
    pinned = re.compile(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\$/\.github/workflows/\w+\.yml")
    assert [use for use in uses if not pinned.fullmatch(use)] == []
    assert len(uses) > 10


def test_the_job_that_may_upload_runs_nothing() -> None:
    """It has the project's identity on the package index: it installs and builds nothing."""
    publish = read(".github/workflows/publish.yml")
    jobs = re.split(r"^  (?=\w+:$)", publish.partition("\njobs:\n")[2], flags=re.MULTILINE)
    (trusted,) = [job for job in jobs if "id-token: write" in job]
    assert "run:" not in trusted
    assert "actions/checkout" not in trusted
    assert "attestations: true" in trusted


def test_nothing_names_a_place_outside_the_project(tracked: list[str]) -> None:
    """The project stands by itself: no path of a developer's machine in it."""
    place = re.compile(rb"/home/(?!you/)[a-z]|/root/|\.pyenv")
    files = [ROOT / name for name in tracked if name != "tests/project/test_packaging.py"]
    assert [file for file in files if file.is_file() and place.search(file.read_bytes())] == []


def read(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "processes"), [([], str(os.cpu_count() or 1)), (["-n", "3"], "3"), (["-n3"], "3")]
)
def test_fast_tests_use_the_processors_or_the_number_given(
    given: list[str], processes: str
) -> None:
    """pytest reads its options with argparse, too: the last one wins."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-n")
    words = [*run.TASKS["tests"][1][2:], *run.arguments(["--fast", *given])]
    known, rest = parser.parse_known_args(words)
    assert known.n == processes
    assert {*run.FAST_TESTS} < {*rest}
