"""A parser in a process of its own: one JSON line in, one JSON line out, within a time.

The process may crash, hang or print anything; :meth:`ParserProcess.ask` returns what happened and
starts a new process for the next request.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

Kind = Literal["answer", "unsupported", "error", "crash", "hang", "garbage", "not asked"]

#: Longest line that is read as a response (bytes).
MAX_LINE = 1_000_000
#: Where a program breaks at a request longer than this, its line buffer may be the reason (bytes).
USUAL_LINE_BUFFER = 64 * 1024


@dataclass(frozen=True)
class Response:
    """What a parser did with a request."""

    kind: Kind
    value: Any
    """The answer, or what happened in words."""


class ParserProcess:
    """Runs a command and asks it; a context manager, which ends the process.

    ``timeout`` is the time for one response (seconds). ``ask`` raises ``OSError`` if the command
    cannot be started.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._ever_responded = False
        self._stack = ExitStack()
        self._stderr = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115

    def __enter__(self) -> ParserProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()
        self._stack.close()

    def ask(self, request: Mapping[str, Any]) -> Response:
        """Send a request and wait for the response."""
        process = self._process or self._start()
        lines: queue.Queue[bytes] = queue.Queue()
        data = json.dumps(request).encode() + b"\n"
        threading.Thread(target=_exchange, args=(process, data, lines), daemon=True).start()
        try:
            line = lines.get(timeout=self._timeout)
        except queue.Empty:
            self._end()
            hint = "" if self._ever_responded else "; is each line of the output flushed?"
            words = f"no response within {self._timeout:g} s{_size_hint(data)}{hint}"
            return Response("hang", words)
        if not line:
            return Response("crash", f"{self._epitaph(process)}{_size_hint(data)}")
        self._ever_responded = True
        response = _read(line)
        if response.kind == "garbage":
            self._end()
        return response

    def _start(self) -> subprocess.Popen[bytes]:
        self._stderr.seek(0)
        self._stderr.truncate()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "PYTHONHASHSEED": "0"},  # some parsers' answers depend on it
            start_new_session=True,
        )
        return self._process

    def _epitaph(self, process: subprocess.Popen[bytes]) -> str:
        """How a process ended: its exit code and the last line of its stderr."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=min(self._timeout, 1))
        code = process.returncode
        self._end()
        self._stderr.seek(0)
        last = self._stderr.read()[-2_000:].decode("utf-8", "replace").strip().rpartition("\n")[2]
        ended = "closed its output" if code is None else f"ended with exit code {code}"
        return f"{ended}: {last}" if last else ended

    def _end(self) -> None:
        """Kill the process and its children."""
        process, self._process = self._process, None
        if process is None:
            return
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream:
                    stream.close()


def _exchange(process: subprocess.Popen[bytes], data: bytes, lines: queue.Queue[bytes]) -> None:
    """Write a request and read one line; an empty line where the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(data)
        process.stdin.flush()
        lines.put(process.stdout.readline(MAX_LINE))
    except (OSError, ValueError):  # ended, or was killed meanwhile
        lines.put(b"")


def _size_hint(request: bytes) -> str:
    """Words that name the size of a long request."""
    return f", request of {len(request):,} bytes" if len(request) > USUAL_LINE_BUFFER else ""


def _read(line: bytes) -> Response:
    """The response that a line contains."""
    shown = line[:80].decode("utf-8", "replace").rstrip()
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return Response("garbage", f"not JSON: {shown!r}")
    if isinstance(data, dict) and line.endswith(b"\n"):
        for kind in ("answer", "unsupported", "error"):
            if kind in data:
                return Response(kind, data[kind])
    return Response("garbage", f"neither answer, unsupported nor error: {shown!r}")
