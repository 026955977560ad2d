"""Starts crawls and commands by forking a process that has imported Scrapy.

The imports take longer than most crawls of the tests. Each crawl is a process of its own all the
same, with a reactor, an environment and signals of its own.

:class:`ForkedProcess` is for tests; run as a program, this module is the process that is forked.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from runpy import run_module
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
#: Modules of most crawls; packages with what is in them. Not all exist in the oldest Scrapy.
_MODULES = (
    *("aiohttp.web", "queuelib", "tldextract", "twisted.conch.telnet"),
    *("scrapy.cmdline", "scrapy.contracts", "scrapy.core.downloader.handlers.http11"),
    *("scrapy.core.engine", "scrapy.dupefilters", "scrapy.logformatter", "scrapy.pqueues"),
    *("scrapy.shell", "scrapy.spiderloader", "scrapy.squeues", "tests.support.event_log"),
    *("scrapy_robotspec.cli.check", "scrapy_robotspec.cli.lint"),
    *("scrapy_robotspec.plugin.addon", "scrapy_robotspec.plugin.commands.run"),
    *("scrapy_robotspec.plugin.middleware", "scrapy_robotspec.plugin.robots"),
)
_PACKAGES = ["commands", "downloadermiddlewares", "extensions", "spidermiddlewares"]
_MAX_JOB = 1 << 17
_REACTOR = "twisted.internet.reactor"


class ForkedProcess:
    """A running ``python -m``, as a :class:`subprocess.Popen` of few methods.

    ``words``: the module and its arguments. ``variables``: the environment besides that of the
    tests. Those of Python itself are read at its start, so a process with any of them imports
    everything by itself.
    """

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        variables: Mapping[str, str],
        out: IO[bytes],
        err: IO[bytes],
    ) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
        }
        defaults = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        job = {
            "words": list(words),
            "cwd": str(cwd),
            "environment": {**environment, **defaults, **variables},
            "fresh": any(name.startswith("PYTHON") for name in variables),
        }
        self._reports, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            fds = [theirs.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(_starter(), [json.dumps(job).encode()], fds)
        self.pid = int(self._reports.recv(32))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while the process runs."""
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code; None if the process still runs after *seconds*."""
        if self.returncode is None:
            self._reports.settimeout(seconds)
            with suppress(BlockingIOError, TimeoutError):
                self.returncode = int(self._reports.recv(32))
                self._reports.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def _starter() -> socket.socket:
    """The socket that takes jobs. The process ends when it is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # before the wait
    return ours


def _next_job(jobs: socket.socket) -> dict[str, Any] | None:
    """Returns in the process of each crawl, and None at the end of the tests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the tests end this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    while True:
        message, fds, *_ = socket.recv_fds(jobs, _MAX_JOB, 3)
        if not message:
            return None
        if os.fork() == 0:
            jobs.close()
            return _forked(message, *fds)
        for each in fds:
            os.close(each)


def _forked(message: bytes, reports: int, out: int, err: int) -> dict[str, Any]:
    """Returns in the process that runs the job; its parent reports PID and exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with socket.socket(fileno=reports) as connection:
        pid = os.fork()
        if pid:
            with suppress(BrokenPipeError):  # a test that has failed does not listen
                connection.send(b"%d" % pid)
                connection.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, fd in ((1, out), (2, err)):
        os.dup2(fd, number)
        os.close(fd)
    job: dict[str, Any] = json.loads(message)
    return job


def _run(job: Mapping[str, Any]) -> None:
    """``python -m WORDS``."""
    os.chdir(job["cwd"])
    if job["fresh"]:
        os.execve(sys.executable, [sys.executable, "-m", *job["words"]], job["environment"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.dont_write_bytecode = True
    sys.path.insert(0, job["cwd"])
    sys.argv[:] = job["words"]
    run_module(job["words"][0], run_name="__main__", alter_sys=True)


def _modules_in(package: str) -> list[str]:
    found = iter_modules(import_module(package).__path__, f"{package}.")
    return [module.name for module in found]


def _main() -> None:
    names = [
        *_MODULES,
        *(name for package in _PACKAGES for name in _modules_in(f"scrapy.{package}")),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated modules
        for name in names:
            with suppress(ModuleNotFoundError):
                import_module(name)
    assert _REACTOR not in sys.modules, "imported before Scrapy has installed the crawl's reactor"
    gc.collect()
    gc.freeze()  # else each crawl's first collection copies all memory that the processes share
    job = _next_job(socket.socket(fileno=int(sys.argv[1])))
    if job is not None:
        _run(job)


if __name__ == "__main__":
    _main()
