"""The command line of the suite: good and bad parsers, exit codes, the examples."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import run as project
from conformance.__main__ import main
from conformance.cases import cases_of
from conformance.parsers import PARSERS
from conformance.responses import Response
from conformance.score import GIVE_UP_AFTER, Result, request, score

ROOT = project.ROOT
OURS = PARSERS["scrapy-robotspec"]


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def command(script: str) -> str:
    """A command line that runs Python code."""
    return shlex.join([sys.executable, "-c", script])


def results(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON output of the suite, with time enough for a busy machine."""
    code = main(["--timeout", "60", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("specification", OURS.claims)
def test_this_package_passes_every_case(
    specification: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Required cases and open ones, through the protocol."""
    code, output = results(capsys, "--parser", OURS.name, "--spec", specification)
    assert code == 0
    assert output["failures"] == output["differences"] == []
    (counts,) = output["scores"]
    assert counts["passed"] + counts["agreed"] == len(cases_of(specification))


def test_a_parser_that_allows_everything_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Each required case that disallows is a failure, and no other."""
    always = command("while input(): print('{\"answer\": true}', flush=True)")
    code, output = results(capsys, "--command", always)
    expected = {c.id for c in cases_of("rfc9309") if c.required and c.expected is not True}
    assert code == 1
    assert {failure["id"] for failure in output["failures"]} == expected


@pytest.mark.parametrize("value", ["1", "0", '"true"', "null", "[true]"])
def test_an_answer_of_another_type_fails(value: str) -> None:
    """1 is not true: a parser that prints it has not answered the question."""
    allowed = next(case for case in cases_of("rfc9309") if case.expected is True and case.required)
    assert Result(allowed, Response("answer", json.loads(value))).failed
    assert not Result(allowed, Response("answer", True)).failed


@pytest.mark.parametrize("kind", ["crash", "hang", "garbage"])
def test_a_breakdown_fails_an_open_case_too(kind: Any) -> None:
    """A specification that leaves the answer open does not allow none at all."""
    case = next(case for case in cases_of("rfc9309") if not case.required)
    assert Result(case, Response(kind, "")).failed
    assert not Result(case, Response("error", "")).failed
    assert not Result(case, Response("answer", not case.expected)).failed
    assert score("rfc9309", [Result(case, Response(kind, ""))]).failed == 1


def test_unsupported_questions_are_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither passed nor failed."""
    never = command('while input(): print(\'{"unsupported": "all"}\', flush=True)')
    code, output = results(capsys, "--command", never, "--spec", "draft-1996")
    assert (code, output["failures"]) == (0, [])
    assert output["scores"][0]["unsupported"] == len(cases_of("draft-1996"))


@pytest.mark.parametrize(
    ("script", "kind"),
    [("", "crash"), ("import time; time.sleep(60)", "hang"), ("print('?' * 999)", "garbage")],
)
def test_a_parser_that_only_breaks_fails_all_cases_soon(
    script: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The suite gives up after a few breakdowns in a row."""
    code, output = results(
        capsys,
        *("--command", command(script), "--spec", "draft-1996"),
        *("--timeout", "0.3" if kind == "hang" else "60"),
    )
    kinds = [failure["kind"] for failure in output["failures"]]
    assert code == 1
    assert len(kinds) == len(cases_of("draft-1996"))
    assert kind in kinds[:GIVE_UP_AFTER]
    assert {*kinds[GIVE_UP_AFTER:]} == {"not asked"}


def test_cases_that_were_not_asked_are_counted_and_not_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The breakdowns are not lost among hundreds of lines."""
    assert main(["--command", command(""), "--spec", "draft-1996", "--timeout", "60"]) == 1
    text = capsys.readouterr().out
    cases = cases_of("draft-1996")
    assert f"The program broke down {GIVE_UP_AFTER} times in a row, the last time at" in text
    assert f"{cases[GIVE_UP_AFTER - 1].id}. The other {len(cases) - GIVE_UP_AFTER} cases" in text
    assert text.count("crash: ended with exit code 0") == GIVE_UP_AFTER


def test_a_reader_that_has_enough_ends_the_output_quietly() -> None:
    """As ``head`` does; exit code 1 and no traceback."""
    always = command("while input(): print('{\"answer\": true}', flush=True)")
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", "--command", always, "--spec", "rfc9309"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert (process.wait(timeout=60), process.stderr.read()) == (1, "")
    process.stderr.close()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--command", "/no/such/program"],
        ["--command", ""],
        ["--command", "unbalanced '"],
        ["--parser", "no-such-parser"],
        ["--parser", "protego", "--spec", "rfc1"],
        ["--show", "no-such-case"],
        ["--parser", "protego", "--command", "x"],
        ["--command", "x", "--timeout", "0"],
        ["--command", "x", "--timeout", "soon"],
        ["--command", "x", "--known", "/no/such/file"],
    ],
)
def test_misuse_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One message, no traceback."""
    try:
        code = main(arguments)
    except SystemExit as error:  # argparse
        code = int(str(error.code))
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("short", [False, True])
def test_show_prints_a_whole_case(short: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """File with line numbers, question, answer and source; by full ID or its last part."""
    case = next(case for case in cases_of("rfc9309") if case.data["line"] == 2 and case.required)
    assert main(["--show", case.id.rpartition("/")[2] if short else case.id]) == 0
    shown = capsys.readouterr().out
    assert case.id in shown
    assert "   1 User-agent: *" in shown
    assert f"question: allowed {case.url} for FooBot" in shown
    assert "by line 2" in shown
    assert str(case.data["source"]) in shown


def test_show_as_json_is_the_request_of_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    """To be piped into a program; only the case of that name, not all with such an end."""
    case = cases_of("rfc9309")[0]
    assert main(["--show", case.id.rpartition("/")[2], "--json"]) == 0
    assert capsys.readouterr().out == json.dumps(request(case)) + "\n"
    assert main(["--show", case.id[-1], "--json"]) == 2


def test_known_failures_are_not_listed_and_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project keeps its list; a new failure and a repaired one are seen."""
    always = command("while input(): print('{\"answer\": true}', flush=True)")
    required = [case for case in cases_of("draft-1996") if case.required]
    disallowed = [case.id for case in required if not case.expected]
    allowed = next(case.id for case in required if case.expected)
    known = tmp_path / "known.txt"
    arguments = ["--command", always, "--spec", "draft-1996", "--timeout", "60"]
    known.write_text("# ours\n\n" + "".join(f"{name} why\n" for name in [*disallowed, allowed]))
    assert main([*arguments, "--known", str(known)]) == 0
    text = capsys.readouterr().out
    assert f"{len(disallowed)} known failures are not listed." in text
    assert f"they do not fail:\n{allowed}\n" in text
    assert not any(name in text for name in disallowed)
    known.write_text("\n".join(disallowed[1:]))
    assert main([*arguments, "--known", str(known)]) == 1
    assert disallowed[0] in capsys.readouterr().out


#: Tool, and how it makes a program of an example; ``{}`` is the program.
EXAMPLES = {
    "naive.mjs": ("node", None),
    "naive.go": ("go", "go build -o {}"),
    "naive.rs": ("rustc", "rustc -O -o {}"),
    "Naive.java": ("java", None),
    "naive.php": ("php", None),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_answer_every_case(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The programs in the README pass the simple cases, and never break."""
    tool, build = EXAMPLES[name]
    compiler = "javac" if tool == "java" else tool  # java itself may come without one
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = f"{tool} conformance/examples/{name}"
    if build:
        program = str(tmp_path / "naive")
        made = [*build.format(program).split(), f"conformance/examples/{name}"]
        subprocess.run(made, check=True, capture_output=True, timeout=300)
    code, output = results(capsys, "--command", program)
    (counts,) = output["scores"]
    assert code == 1
    assert counts["passed"] > counts["required"] / 2
    assert counts["unsupported"] < 80
    assert {failure["kind"] for failure in output["failures"]} == {"answer"}


def test_all_examples_are_run_and_explained() -> None:
    """Each program of the folder is in the table of the README."""
    readme = (ROOT / "conformance" / "README.md").read_text("utf-8")
    for path in (ROOT / "conformance" / "examples").iterdir():
        tool, build = EXAMPLES[path.name]
        source = f"conformance/examples/{path.name}"
        made = build.format("naive") if build else f'python3 -m conformance --command "{tool}'
        assert f"`{made} {source}" in readme


def test_suite_needs_the_standard_library_only(tmp_path: Path) -> None:
    """Copied elsewhere and run by a Python without any packages."""
    shutil.copytree(ROOT / "conformance", tmp_path / "conformance")
    script = "while input(): print('{\"answer\": true}', flush=True)"
    arguments = ["-m", "conformance", "--spec", "draft-1996", "--command", command(script)]
    done = subprocess.run(
        [sys.executable, "-S", "-E", *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "draft-1996:" in done.stdout
