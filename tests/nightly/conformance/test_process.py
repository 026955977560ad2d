"""A parser in a process: whatever it does is a result, and the next request is answered."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from conformance.process import ParserProcess
from conformance.responses import Response, read_response

#: A parser that does what the request's ``do`` says, and otherwise answers with its ``number``.
SCRIPT = """\
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    exec(request.get("do", ""))
    print(json.dumps({"answer": request["number"]}), flush=True)
"""
COMMAND = [sys.executable, "-c", SCRIPT]


@pytest.mark.parametrize(
    ("do", "kind", "words"),
    [
        ("os._exit(3)", "crash", "ended with exit code 3"),
        ("os.kill(os.getpid(), 9)", "crash", "ended with exit code -9"),
        ("raise SystemError('broken parser')", "crash", "SystemError: broken parser"),
        ("os.close(1); os.close(0); time.sleep(60)", "crash", "closed its output"),
        ("time.sleep(60)", "hang", "no response within 3 s"),
        ("print('no JSON at all', flush=True)", "garbage", "no JSON at all"),
        ("print(flush=True)", "garbage", "not JSON"),
        ("print('[]', flush=True)", "garbage", "neither answer"),
        ("print('{}', flush=True)", "garbage", "neither answer"),
        ("print('[' * 100_000, flush=True)", "garbage", "not JSON"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "garbage", "not JSON"),
        ("print('{\"answer\": 1}' + ' ' * 2_000_000, flush=True)", "garbage", "neither answer"),
        ('print(\'{"answer": 1, "id": "z"}\', flush=True)', "garbage", "id of another request"),
        ('print(\'{"answer": false, "error": ""}\', flush=True)', "garbage", "answer and error"),
    ],
)
def test_breakdown_is_a_result_and_the_next_request_is_answered(
    do: str, kind: str, words: str
) -> None:
    """Crash, hang and garbage, each in the middle of a run."""
    with ParserProcess(COMMAND, timeout=3 if kind == "hang" else 60) as process:
        assert process.ask({"number": 1}).value == 1
        response = process.ask({"number": 2, "do": do})
        assert response.kind == kind
        assert words in str(response.value)
        assert "flushed" not in str(response.value)  # it has responded before
        assert process.ask({"number": 3}).value == 3


@pytest.mark.parametrize(
    ("line", "response"),
    [
        ('{"answer": false}', Response("answer", False)),
        ('{"answer": null}', Response("answer", None)),
        ('{"answer": true, "id": "a/b/c", "more": 1}', Response("answer", True)),
        ('{"answer": true, "unsupported": null, "error": null}', Response("answer", True)),
        ('{"answer": null, "unsupported": "u", "error": null}', Response("unsupported", "u")),
        ('{"error": "E: x"}', Response("error", "E: x")),
    ],
)
def test_null_is_a_missing_key_unless_it_is_the_answer(line: str, response: Response) -> None:
    """Serialisers of classes write the keys that they have no value for."""
    assert read_response(f"{line}\r\n".encode(), {"id": "a/b/c"}) == response


def test_a_second_line_for_a_request_does_not_shift_the_answers_after_it() -> None:
    """It is found at one of the next requests, and the program is started again."""
    twice = "print('{\"answer\": 0}', flush=True)"
    with ParserProcess(COMMAND, timeout=60) as process:
        assert process.ask({"number": 1, "do": twice}).value == 0
        while (response := process.ask({"number": 2})).kind == "answer":
            assert response.value in (1, 2)
        assert "no request asked for" in response.value
        assert process.ask({"number": 3}).value == 3


def test_a_program_that_ends_after_each_response_has_crashed() -> None:
    """That is seen at the next request, and the one after it is answered."""
    command = [sys.executable, "-c", "input(); print('{\"answer\": 1}')"]
    with ParserProcess(command, timeout=60) as process:
        kinds = [process.ask({}).kind for _ in range(4)]
    assert kinds == ["answer", "crash"] * 2


def test_a_program_that_never_stops_writing_is_stopped() -> None:
    """It fills no memory, and the suite goes on."""
    command = ["sh", "-c", "while :; do echo '{}'; done"]
    with ParserProcess(command, timeout=60) as process:
        assert [process.ask({}).kind for _ in range(3)] == ["garbage"] * 3


def test_a_parser_that_never_reads_is_a_hang() -> None:
    """A request larger than a pipe's buffer does not block the suite."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with ParserProcess(command, timeout=0.5) as process:
        response = process.ask({"file": "x" * 1_000_000})
    assert response.kind == "hang"
    assert "request of 1,000,013 bytes; is each line of the output flushed" in response.value


def test_a_parser_that_ends_at_a_long_line_hears_how_long_it_was() -> None:
    """A line buffer that is too short is the usual reason."""
    command = [sys.executable, "-c", "import sys; sys.stdin.buffer.readline(65536)"]
    with ParserProcess(command, timeout=60) as process:
        assert "request of 100,013 bytes" in process.ask({"file": "x" * 100_000}).value
        assert "request of" not in process.ask({"file": "x"}).value


@pytest.mark.skipif(os.name != "posix", reason="process groups are a POSIX feature")
def test_children_of_a_parser_end_with_it(tmp_path: Path) -> None:
    """A parser behind a shell script is stopped too, not only the shell."""
    pid_file = tmp_path / "pid"
    command = ["sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"]
    with ParserProcess(command, timeout=3) as process:
        assert process.ask({}).kind == "hang"
    child = int(pid_file.read_text())
    for _ in range(100):
        if not is_running(child):
            return
        time.sleep(0.05)
    pytest.fail("the parser's child is still running")


def is_running(pid: int) -> bool:
    """Whether a process exists and is more than an entry that no parent has collected."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
