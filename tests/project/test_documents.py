"""The README and all other pages: code blocks run, commands exist, links lead somewhere.

The prose of a page is not checked here.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from scrapy.robotstxt import RobotParser
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import run
from scrapy_robotspec.cli.app import COMMANDS
from tests.support.command_line import main

ROOT = Path(run.__file__).parent
PAGES = sorted(
    page
    for folder in (ROOT, ROOT / "docs", ROOT / "example_project")
    for page in folder.glob("*.md")
)
PACKAGE = "scrapy_robotspec."
FENCE = re.compile(r"^( *)```([\w{}-]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(*languages: str) -> list[Any]:
    """All blocks of these languages, as parameters of a test."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match[2], dedent(match[3])))
    return [pytest.param(block, id=str(block)) for block in found if block.language in languages]


def test_there_are_blocks_to_check() -> None:
    """The search finds what it is meant to find."""
    assert len(blocks("python")) >= 6
    assert len(blocks("console")) >= 4


@pytest.mark.usefixtures("myproject")
@pytest.mark.parametrize("block", blocks("python"))
def test_python_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block runs by itself; settings in it start a crawler with the add-on."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "block"}
    if block.text.startswith(">>>"):
        assert run_session(block, names).failed == 0
        return
    exec(compile("\n" * block.line + block.text, str(block.page), "exec"), names)
    if settings := {name: value for name, value in names.items() if name.isupper()}:
        apply(settings)


def run_session(block: Block, names: dict[str, Any]) -> doctest.TestResults:
    """Run a block that shows an interactive session, and compare what it prints."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    return runner.run(
        parser.get_doctest(block.text, names, str(block), str(block.page), block.line)
    )


def apply(values: dict[str, Any]) -> None:
    """Apply settings as a crawl does at its start, where a wrong one is an error."""
    settings = Settings({"ROBOTSTXT_OBEY": True, **values})
    if "ROBOTSTXT_PARSER" in values:
        assert issubclass(load_object(settings["ROBOTSTXT_PARSER"]), RobotParser)
        return
    for addon in values.get("ADDONS", ["scrapy_robotspec.Addon"]):
        load_object(addon)().update_settings(settings)
    active = settings.getwithbase("DOWNLOADER_MIDDLEWARES").items()
    ours = [at for key, at in active if PACKAGE in repr(key)]
    assert ours
    assert None not in ours


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_exist(block: Block) -> None:
    """Each command of ours names a task, a spider, a file or the package that exists."""
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        match words:
            case ["python3", "run.py", task, *_]:
                assert task in run.TASKS
            case ["scrapy", "crawl", spider, *_]:
                shown = f'name = "{spider}"' in block.page.read_text(encoding="utf-8")
                assert shown or (ROOT / f"example_project/example/spiders/{spider}.py").is_file()
            case ["pip", "install", *packages]:
                assert all(re.match(r"(scrapy-robotspec|\.)(\[\w+\])?$", name) for name in packages)
            case ["python" | "python3", script, *_] if script.endswith(".py"):
                assert (ROOT / script).is_file()
            case ["robotspec", command, *_] | ["scrapy", "robotspec", command, *_]:
                assert command in COMMANDS
            case [script] if script.startswith("."):
                assert (ROOT / script).is_file()


def test_benchmarks_run_without_pytest() -> None:
    """The pages give their commands to readers who have installed the package alone."""
    scripts = "".join(path.read_text() for path in sorted((ROOT / "benchmarks").glob("*.py")))
    used = sorted(set(re.findall(r"from (tests\.support\.\w+) import", scripts)))
    assert used
    program = f"import sys; sys.modules['pytest'] = None; import {', '.join(used)}"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Each link to a file of the project finds it."""
    targets = [match[1] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if ":" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


#: Folders that the path of a file in a text begins at.
BASES = (ROOT, ROOT / "scrapy_robotspec", ROOT / "tests", ROOT / "scrapy_robotspec/plugin")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    """A module that was merged or renamed leaves no trace on a page."""
    text = page.read_text(encoding="utf-8")
    made = ("tutorial/", "site/", "myproject/")  # by the reader
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|md|toml))`", text)
    bases = (page.parent, *BASES)
    lost = [path for path in paths if not any((base / path).exists() for base in bases)]
    assert [path for path in lost if not path.startswith(made)] == []


CATALOGUE = ROOT / "docs/specification.md"


def test_ids_of_the_catalogue_stand_on_its_own_page_alone() -> None:
    """A user never has to look up what FET-12 means."""
    heads = set(re.findall(r"^\| (\w+)-\d+ \|", CATALOGUE.read_text(encoding="utf-8"), re.M))
    assert {"FET", "CAC", "FMT"} <= heads
    an_id = re.compile(rf"\b(?:{'|'.join(heads)})-\d")
    found = {
        f"{page.name}: {match[0]}"
        for page in PAGES
        if page not in (CATALOGUE, ROOT / "CONTRIBUTING.md")
        for match in an_id.finditer(page.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_the_command_in_the_readme_names_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the README says."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^robotspec (.*)$", text, re.MULTILINE)
    assert command
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text("User-agent: *\nDisallow: /private/\n", encoding="utf-8")
    assert main(shlex.split(command[1])) == 1
    assert "decides    line 2: Disallow: /private/\n" in capsys.readouterr().out


def test_links_of_the_first_page_lead_to_the_same_pages_in_the_documentation() -> None:
    """The documentation includes the README up to its definitions of links."""
    first = re.compile(r"^\[([\w-]+)\]: (\S+)$", re.MULTILINE)
    base = "https://scrapy-robotspec.readthedocs.io/en/latest/"
    links = dict(first.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    pages = dict(first.findall((ROOT / "docs/index.md").read_text(encoding="utf-8")))
    pages["picture"] = pages["picture"].replace("images", "_images")  # Sphinx copies it there
    expected = {name: base + page.replace(".md", ".html") for name, page in pages.items()}
    assert {**expected, "docs": base} == links
