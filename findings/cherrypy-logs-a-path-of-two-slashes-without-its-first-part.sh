#!/usr/bin/env bash
# CherryPy serves and logs /cart for a request of //private/cart.
#
# Version: CherryPy 18.10.0 with cheroot 11.1.2 (PyPI).
# Source: RFC 9112, section 3.2.1: a request target in origin form is an absolute path, and a path
# may begin with two slashes (RFC 3986, section 3.3: segments may be empty).
# Expected: the page and the access log get the path that was requested.
# Behaviour: the first segment is taken for a host, and is lost in both.
# What follows: by such a log a crawler requested a path that a robots.txt allows, or disallows,
# while it asked for another one.
# Output:
#   GET /private/cart -> page /private/cart, logged "GET /private/cart HTTP/1.1"
#   GET //private/cart -> page /cart, logged "GET /cart HTTP/1.1"
source "$(dirname "$0")/common.sh"

pypi 'CherryPy==18.10.0' 'cheroot==11.1.2'
cd "$work"
"$python" - <<'PY' | confirm
import re
import socket
import time
from pathlib import Path

import cherrypy


class Site:
    @cherrypy.expose
    def default(self, *words, **query):
        return cherrypy.request.path_info


with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
cherrypy.config.update(
    {
        "server.socket_host": "127.0.0.1",
        "server.socket_port": port,
        "log.access_file": "access.log",
        "log.screen": False,
        "engine.autoreload.on": False,
    }
)
cherrypy.tree.mount(Site())
cherrypy.engine.start()
pages = []
for target in ("/private/cart", "//private/cart"):
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while data := connection.recv(65536):
            answer += data
    pages.append((target, answer.partition(b"\r\n\r\n")[2].decode()))
time.sleep(1)
cherrypy.engine.exit()
logged = re.findall(r'"GET [^"]*"', Path("access.log").read_text())
for (target, page), line in zip(pages, logged, strict=True):
    print(f"GET {target} -> page {page}, logged {line}")
PY
