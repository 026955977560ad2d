"""Runs the commands of ``docs/tutorial.md``, for its test and its pictures."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("tutorial.md")
#: A file name, or the name of settings to add, at the end of a paragraph before a block.
STEP = re.compile(
    r"(?P<before>[^\n]*)\n\n```(?P<kind>console|python|shell-session|text)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
STOP = "<!-- stop the site -->"
#: The commands of this section are those of any installation.
INSTALL = "## 2. "
#: Port of the page, and folder that stands in outputs for the one of a run.
PORT, HOME = "8000", "/home/you/try"


class Tutorial:
    """The steps of the page, done in an empty folder.

    :ivar outputs: command → what it printed, its standard error included, one entry for each run
    """

    def __init__(self, folder: Path) -> None:
        self._home = self._folder = folder
        self._port = free_port()
        self.outputs: list[tuple[str, str]] = []

    def run(self) -> None:
        """Do every step."""
        text = PAGE.read_text(encoding="utf-8").partition(INSTALL)[2]
        up, down = text.split(STOP)
        steps = list(STEP.finditer(up))
        server = next(at for at, step in enumerate(steps) if "http.server" in step["text"])
        for step in steps[:server]:
            self._do(step)
        with self._site(steps[server]["text"]):
            for step in steps[server + 1 :]:
                self._do(step)
        for step in STEP.finditer(down):
            self._do(step)

    def _do(self, step: re.Match[str]) -> None:
        file = re.search(r"`([\w/.]+\.(?:py|txt))`", step["before"])
        if step["kind"] in ("text", "python"):
            assert file is not None, step["before"]
            self._write(file[1], step["text"])
        for command in re.findall(r"^\$ (.+)$", step["text"], re.M) or step["text"].splitlines():
            if step["kind"] in ("console", "shell-session"):
                self._command(command)

    def _write(self, name: str, text: str) -> None:
        """Write a file; settings are added at the end, where they replace those above."""
        path = self._folder / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(old + text.replace(PORT, self._port), encoding="utf-8")

    def _command(self, command: str) -> None:
        if command.startswith("cd "):
            self._folder /= command.removeprefix("cd ")
            return
        done = subprocess.run(
            command.replace(PORT, self._port),
            shell=True,
            cwd=self._folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        output = done.stdout.replace(self._port, PORT).replace(str(self._home), HOME)
        self.outputs.append((command, output))

    @contextmanager
    def _site(self, command: str) -> Iterator[None]:
        """The site of the page, while it runs."""
        words = [sys.executable, *shlex.split(command.replace(PORT, self._port))[1:]]
        log = subprocess.DEVNULL
        with subprocess.Popen(words, cwd=self._folder, stdout=log, stderr=log) as site:
            try:
                wait_for(site, int(self._port))
                yield
            finally:
                site.terminate()

    def report(self) -> str:
        """The report of the first crawl."""
        first = min(self._folder.glob("robots-*.html"))
        return first.read_text(encoding="utf-8").replace(self._port, PORT)


def environment() -> dict[str, str]:
    """Variables in which the commands of this Python are found, without a proxy."""
    names = {**os.environ, "NO_PROXY": "localhost", "no_proxy": "localhost"}
    root, programs = PAGE.parents[1], Path(sys.executable).parent
    return {**names, "PYTHONPATH": str(root), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def free_port() -> str:
    """A port of five digits on which nothing listens."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return str(found.getsockname()[1])


def wait_for(site: subprocess.Popen[bytes], port: int) -> None:
    """Return when the site listens on *port*."""
    while site.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the site ended with {site.returncode}")
