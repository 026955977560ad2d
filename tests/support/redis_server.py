"""A real Redis server on a free port, stopped with the tests.

Nothing is skipped in silence: where no ``redis-server`` is found the tests say so.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

from typing_extensions import Self

NOT_FOUND = "no redis-server on the PATH: install Debian's redis-server or Redis itself"


class RedisServer:
    """A server process without persistence, and a context manager."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.port = free_port()
        self._options = options
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def uri(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start and wait until it takes connections."""
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._directory)]
        self._process = subprocess.Popen(
            [*command, *self._options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not self._answers():
            assert self._process.poll() is None, "redis-server ended at once"
            time.sleep(0.02)

    def stop(self) -> None:
        """Kill it: nothing is said to clients."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def signal(self, number: int) -> None:
        """Send it a signal, as SIGSTOP for a server that hangs."""
        assert self._process is not None
        self._process.send_signal(number)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(1) in (b"+", b"-")
        except OSError:
            return False


def is_installed() -> bool:
    return shutil.which("redis-server") is not None


def need_redis() -> None:
    """Skip a test on a machine without Redis."""
    import pytest  # benchmarks use the server, and run without pytest

    if not is_installed():
        pytest.skip(NOT_FOUND)
    pytest.importorskip("redis", reason="the Redis client is not installed")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
