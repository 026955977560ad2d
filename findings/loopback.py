"""A server on loopback for the findings: a function gives the answers, a list logs the requests."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """``log`` has the paths requested, ``url`` is the root."""

    daemon_threads = True

    def __init__(self, answer):
        server = self
        self.log = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.log.append(self.path)
                status, headers, body = answer(self.path)
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                # A length that is not the body's: the connection ends within the body.
                self.close_connection = headers.get("Content-Length", len(body)) != len(body)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(answer):
    """Serve until the block ends."""
    server = Server(answer)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
