"""A parser in its own process: JSON lines in and out.

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
from typing import IO, TYPE_CHECKING, Any

from conformance.responses import Response, garbage, read_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

#: Longest line that is read as a response (bytes).
MAX_LINE = 1_000_000
#: Where a program breaks at a request longer than this, its line buffer may be the reason (bytes).
USUAL_LINE_BUFFER = 64 * 1024
#: Max lines read from a program that writes without a request.
MAX_UNREAD = 100


class ParserProcess:
    """Runs a command and asks it; a context manager.

    ``timeout`` is the time for one response (seconds). ``ask`` raises ``OSError`` if the command
    cannot be started.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
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
        data = json.dumps(request).encode() + b"\n"
        unasked = not self._lines.empty()
        if not unasked:
            threading.Thread(target=_write, args=(process.stdin, data), daemon=True).start()
        try:
            line = self._lines.get(timeout=self._timeout)
        except queue.Empty:
            self._end()
            return Response("hang", self._silence(data))
        if not line:
            return Response("crash", f"{self._epitaph(process)}{_size_hint(data)}")
        self._ever_responded = True
        response = (
            garbage("a line that no request asked for", line)
            if unasked
            else read_response(line, request)
        )
        if response.kind == "garbage":
            self._end()
        return response

    def _silence(self, request: bytes) -> str:
        """Words for a response that does not come, with its likely reason."""
        words = f"no response within {self._timeout:g} s{_size_hint(request)}"
        if self._ever_responded:
            return words
        return f"{words}; is each line of the output flushed, and is this time enough to start?"

    def _start(self) -> subprocess.Popen[bytes]:
        self._stderr.seek(0)
        self._stderr.truncate()
        self._lines = queue.SimpleQueue()
        self._process = process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "PYTHONHASHSEED": "0"},  # some parsers' answers depend on it
            start_new_session=True,
        )
        arguments = (process.stdout, self._lines)
        threading.Thread(target=_read_lines, args=arguments, daemon=True).start()
        return process

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
        with suppress(OSError):
            if process.stdin:
                process.stdin.close()


def _write(stream: IO[bytes], data: bytes) -> None:
    """Write a request; a program that has ended or is killed meanwhile is seen by its output."""
    with suppress(OSError, ValueError):
        stream.write(data)
        stream.flush()


def _read_lines(stream: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Put each line of the output, and an empty one where it ends."""
    with suppress(OSError, ValueError), stream:
        while lines.qsize() < MAX_UNREAD and (line := stream.readline(MAX_LINE)):
            lines.put(line)
    lines.put(b"")


def _size_hint(request: bytes) -> str:
    """Words that name the size of a long request."""
    return f", request of {len(request):,} bytes" if len(request) > USUAL_LINE_BUFFER else ""
