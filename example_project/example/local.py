"""Starting and stopping the local site as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: The folder with scrapy.cfg, from which ``python -m example.site`` works.
PROJECT = Path(__file__).parent.parent


@dataclass(frozen=True)
class LocalSite:
    """A running site."""

    origins: dict[str, str]  #: name of a case → its origin
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, table: str, log: Path | None = None) -> LocalSite:
        """Start the site of a table of cases, such as ``example.responses:ALL_RESPONSES``.

        Raises ``RuntimeError`` when it does not come up.
        """
        command = [sys.executable, "-m", "example.site", table]
        if log:
            command += ["--log", str(log)]
        process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise RuntimeError("the local site did not start; its own message is above")
        return cls(json.loads(line), process)

    def stop(self) -> None:
        """End the process and wait for it."""
        self.process.terminate()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
