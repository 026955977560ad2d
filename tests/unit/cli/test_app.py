"""The command line as a whole: version, quiet, colours, completion, start-up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import scrapy_robotspec
from scrapy_robotspec.cli.app import COMMANDS
from tests.support.command_line import RunCommand

ROOT = Path(scrapy_robotspec.__file__).parents[1]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_version_is_shown_with_the_name(run_command: RunCommand, command: str) -> None:
    """So that a report names the tool."""
    result = run_command(*command.split(), "--version")
    assert (result.code, result.out) == (0, f"robotspec {scrapy_robotspec.__version__}\n")


def process(
    *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        input="",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        check=False,
        timeout=180,
    )


def test_the_shell_completes_commands_and_options() -> None:
    """As the line in --help sets it up."""
    program = "import sys; sys.argv[0] = 'robotspec'; from scrapy_robotspec.__main__ import main; "
    program += "sys.exit(main())"

    def complete(line: str) -> str:
        environment = {
            "_ROBOTSPEC_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
        }
        return process("-c", program, environment=environment).stdout

    assert "explain" in complete("robotspec ex")
    assert "--each-token" in complete("robotspec check --ea")
    assert "rfc9309" in complete("robotspec check --edition rf")


def test_a_command_for_files_starts_without_scrapy_and_templates() -> None:
    """Start-up is short because nothing is imported that is not needed."""
    program = (
        "import sys; before = set(sys.modules); "  # a measurement of coverage imports some
        "from scrapy_robotspec.__main__ import main; main(); print(*set(sys.modules) - before)"
    )
    names = process("-c", program, "check", "-", "/x").stdout.split()
    loaded = {name.partition(".")[0] for name in names}
    heavy = {"scrapy", "twisted", "jinja2", "w3lib", "json", "email", "difflib", "sqlite3"}
    assert not loaded & heavy
    words = {
        "scrapy_robotspec.access",
        "scrapy_robotspec.access.account",
        "scrapy_robotspec.access.decision",
        "scrapy_robotspec.access.outcome",
        "scrapy_robotspec.access.reasons",
    }
    ours = {name for name in names if name.startswith("scrapy_robotspec.")} - words
    assert not {name for name in ours if name.split(".")[1] in ("access", "store", "plugin")}


def test_help_imports_neither_commands_nor_the_parser() -> None:
    """The list of commands is a table."""
    program = "import sys; from scrapy_robotspec.__main__ import main; main(); print(*sys.modules)"
    loaded = process("-c", program, "--help").stdout.split()
    assert "scrapy_robotspec.cli.app" in loaded
    assert not [name for name in COMMANDS if f"scrapy_robotspec.cli.{name}" in loaded]
    parser = {"scrapy_robotspec.editions", "scrapy_robotspec.protocol"}
    assert not {"scrapy", "twisted", *parser} & set(loaded)


def test_ctrl_c_ends_without_a_traceback(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130, as a shell has it."""

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scrapy_robotspec.cli.check.read_urls", interrupt)
    result = run_command("check", "robots.txt", "/x")
    assert (result.code, result.out, result.err.strip()) == (130, "", "")


def test_ctrl_c_is_handled_before_anything_else_is_imported() -> None:
    """No traceback of an import, but for those of Python's own start."""
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import scrapy_robotspec.__main__; "
    loaded = process("-I", "-S", "-c", program + "print(*sys.modules)").stdout.split()
    assert "scrapy_robotspec.__main__" in loaded
    assert not {"typing", "re", "click"} & {*loaded}


def test_ctrl_c_while_modules_are_imported_ends_the_command() -> None:
    """Exit code 130, also where an import swallows the error, as extension modules do."""
    program = (
        "import builtins, os, signal, sys; real = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'click':\n"
        "        try: os.kill(os.getpid(), signal.SIGINT)\n"
        "        except KeyboardInterrupt: pass\n"
        "    return real(name, *rest)\n"
        "from scrapy_robotspec.__main__ import main\n"
        "builtins.__import__ = interrupted\n"
        "sys.exit(main())"
    )
    done = process("-c", program)
    assert (done.returncode, done.stderr) == (130, "")
