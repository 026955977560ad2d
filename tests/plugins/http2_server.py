"""An HTTP/2 server in a process of its own, made of Twisted's; prints its port, then its requests.

``python -m tests.plugins.http2_server CERTIFICATE RULES``: the files with certificate and key, and
with its robots.txt.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(certificate: str, rules: str) -> None:
    from twisted.internet import reactor, ssl  # noqa: TID251  (a program of its own)
    from twisted.web.resource import Resource
    from twisted.web.server import Site

    class Pages(Resource):
        isLeaf = True  # noqa: N815  (Twisted's name)

        def render_GET(self, request):  # noqa: N802
            print(request.clientproto.decode(), request.path.decode(), flush=True)
            request.setHeader(b"Content-Type", b"text/plain")
            return text if request.path == b"/robots.txt" else b"a page"

    text = Path(rules).read_bytes()
    pem = Path(certificate).read_bytes()
    options = ssl.PrivateCertificate.loadPEM(pem).options()
    port = reactor.listenSSL(0, Site(Pages()), options, interface="127.0.0.1")
    print(port.getHost().port, flush=True)
    reactor.run()


class Http2Server:
    """The server as a context; ``requests`` are its lines so far: protocol and path."""

    def __init__(self, certificate: Path, rules: Path) -> None:
        files = [str(certificate), str(rules)]
        command = [sys.executable, "-m", "tests.plugins.http2_server", *files]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._lines = self._process.stdout
        self.port = int(self._lines.readline())
        self.requests: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        self.requests.extend(line.strip() for line in self._lines)

    def __enter__(self) -> Http2Server:
        self._reader.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._lines.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
