"""Runs a program in each situation and collects its requests."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from conformance.crawlers.outcomes import requested
from conformance.crawlers.site import Site
from conformance.crawlers.situations import OPEN, SITUATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.crawlers.programs import Program

#: Seconds for one crawl of at most four pages; several programs pause a second between two.
TIMEOUT = 60


def crawl_all(program: Program, variables: Mapping[str, str]) -> dict[str, Any]:
    """The requests of a program in all situations.

    Raises ``OSError`` where it fetches no page of a site without a robots.txt.
    """
    outcomes: dict[str, list[str]] = {}
    fetches, agents = 0, set()
    for name, situation in SITUATIONS.items():
        with Site(situation, program.token) as site:
            _crawl(program, variables, site)
        outcomes[name] = requested(situation, site.requests)
        if name == "no-file" and OPEN not in outcomes[name]:
            raise OSError("it fetches no page of a site without a robots.txt")
        fetches = max(fetches, sum(each.target == "/robots.txt" for each in site.requests))
        agents |= {each.user_agent for each in site.requests}
    return {"user_agents": sorted(agents), "robots_txt_requests": fetches, "requested": outcomes}


def _crawl(program: Program, variables: Mapping[str, str], site: Site) -> None:
    """Run a crawl to its end; a crawl that does not end is killed with all its processes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = _command(program.command, site, folder)
        # Proxies and configuration files of the user would change the crawl.
        inherited = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        environment = {**inherited, "HOME": folder, "TMPDIR": folder, **variables}
        with (Path(folder) / "output").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(TIMEOUT)
            finally:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the session of a process, whose children may outlive it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(template: Sequence[str], site: Site, folder: str) -> list[str]:
    """The words of a command, with ``{links}`` as several."""
    values = {"url": site.url, "host": urlsplit(site.url).netloc, "folder": folder}
    words: list[str] = []
    for word in template:
        words += site.links if word == "{links}" else [word.format_map(values)]
    return words
