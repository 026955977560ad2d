"""A real FTP server on loopback: ``python -m tests.support.ftp FOLDER``.

It lets anonymous visitors read FOLDER, prints its port, logs every command, and stops with its
standard input.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.crawl_starter import ROOT


class FtpSite:
    """The running server as a test sees it."""

    def __init__(self, port: int, log: Path) -> None:
        self._port = port
        self._log = log

    def url(self, path: str, login: str = "") -> str:
        """The URL of *path*; *login* is ``user:password@``."""
        return f"ftp://{login}127.0.0.1:{self._port}{path}"

    @property
    def commands(self) -> list[str]:
        """The commands of the clients, in order."""
        return self._log.read_text().splitlines()

    def asked_for(self, name: str) -> int:
        """How often the file *name* was asked for."""
        return self.commands.count(f"RETR /{name}")


@contextmanager
def ftp_site(folder: Path, log: Path, *, anonymous: bool = True) -> Iterator[FtpSite]:
    """Serve *folder*, with or without letting strangers in."""
    log.touch()
    arguments = [str(folder), str(log), *([] if anonymous else ["closed"])]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.ftp", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield FtpSite(int(process.stdout.readline()), log)
        finally:
            process.kill()


def serve(folder: str, log: str, closed: bool) -> None:
    """Run until killed."""
    from twisted.cred.checkers import AllowAnonymousAccess, InMemoryUsernamePasswordDatabaseDontUse
    from twisted.cred.portal import Portal
    from twisted.internet import reactor, stdio  # noqa: TID251  (the server's own process)
    from twisted.internet.protocol import Protocol
    from twisted.protocols.ftp import FTP, FTPFactory, FTPRealm

    class Logging(FTP):
        def processCommand(self, cmd: str, *params: str) -> object:  # noqa: N802
            with open(log, "a") as file:
                file.write(" ".join((cmd, *params)) + "\n")
            return super().processCommand(cmd, *params)

    class EndWithInput(Protocol):
        def connectionLost(self, reason: object = None) -> None:  # noqa: N802
            reactor.stop()  # type: ignore[attr-defined]

    users = InMemoryUsernamePasswordDatabaseDontUse()
    portal = Portal(FTPRealm(folder), [users] if closed else [AllowAnonymousAccess(), users])
    factory = FTPFactory(portal)
    factory.protocol = Logging
    port = reactor.listenTCP(0, factory, interface="127.0.0.1")  # type: ignore[attr-defined]
    stdio.StandardIO(EndWithInput())
    print(port.getHost().port, flush=True)
    reactor.run()  # type: ignore[attr-defined]


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], sys.argv[3:] == ["closed"])
