"""Real servers are asked 34 requests each, and their logs read: exactly, or not at all.

Servers of Debian and of the package index, each if it is installed. Their own default formats, the
combined one where a server has several.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from scrapy_robotspec.evidence.log_formats import reader
from tests.support.command_line import main
from tests.support.redis_server import free_port
from tests.support.server_logs import canonical

AGENT = b"examplebot/1.0 (+https://bot.example/)"
FORGED = b'[28/Nov/2026:19:37:46 +0000] "GET /forged HTTP/1.1" 200 5 "-" "x'
#: Request targets by a number that is in them; what a server refuses has no line with its number.
TARGETS = [
    *(b"/plain", b"/q?a=b&sort=price", b"/q?", b"/\xc3\xa9t\xc3\xa9/a", b"/caf\xe9", b"/%22%5C"),
    *(b'/q"a', b"/a\\b", b"/a%20b", b"//cart", b"/a//b", b"/a/../b", b"/a/./b", b"/;x=y", b"/a|b"),
    *(b"/[x]", b"/]", b"/{x}", b"/~a", b"/a'b", b"/%2e%2e/b", b"/%C3%A9", b"/a+b", b"/a,b"),
    *(b"/?x=%22", b"/" + b"l" * 500),
]  # fmt: skip
#: User-Agents with what servers escape, or do not.
AGENTS = [
    b'"E" b/1',
    b'Mozilla/5.0 (compatible; "E" b/1)',
    b"b/1\t(x)",
    b"b'/1 [x] {y} ~ | %22 #22",
]
#: Values of further headers that look like the rest of a line.
HEADERS = [
    b"Referer: http://x.example/" + FORGED,
    b"X-Forwarded-For: 203.0.113.5, " + FORGED,
    b"User-Agent: bot " + FORGED,
    b"Authorization: Basic eCBbMjgvTm92LzIwMjY6MTk6Mzc6NDYgKzAwMDBdICJHRVQgL2Zvcmdl",
]


def requests() -> Iterator[tuple[bytes, bytes]]:
    """Each request target, and a header of its request."""
    for number, target in enumerate(TARGETS):
        mark = b"/n%02d" % number
        target = b"/" + mark + target[1:] if target.startswith(b"//") else mark + target
        yield target, b"User-Agent: " + AGENT
    agents = [b"User-Agent: " + agent for agent in AGENTS]
    for number, header in enumerate(HEADERS + agents, len(TARGETS)):
        yield b"/n%02d/header" % number, header


def ask(port: int) -> dict[str, str]:
    """Send the requests; the targets by their numbers."""
    sent = {}
    for target, header in requests():
        lines = (b"GET %b HTTP/1.1" % target, b"Host: shop.example", header, b"Connection: close")
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
            while connection.recv(65536):
                pass
        number = re.search(rb"/n(\d\d)", target)
        assert number is not None
        sent[number[1].decode()] = target.decode("utf-8", "surrogateescape")
    return sent


class Server(NamedTuple):
    """How a server is started."""

    needs: str
    """A program, or a module of Python."""
    files: dict[str, str]
    command: str
    log: str = "access.log"
    log_format: str | None = None
    changed: str = ""
    """Numbers of the targets that it logs otherwise than they were sent."""
    fewest: int = 20
    """Requests that are read at least."""


NGINX = """daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}
http {{ access_log {folder}/access.log combined; client_body_temp_path {folder}/b;
proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
scgi_temp_path {folder}/s; server {{ listen 127.0.0.1:{port}; return 200 x; }} }}"""
APACHE = """ServerName shop.example
Listen 127.0.0.1:{port}
PidFile {folder}/pid
DocumentRoot {folder}
ErrorLog {folder}/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LogFormat "%v:%{{local}}p %h %l %u %t \\"%r\\" %s %O \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" own
CustomLog {folder}/access.log own
"""
H2O = """listen: {{host: 127.0.0.1, port: {port}}}
hosts: {{default: {{paths: {{/: {{file.dir: {folder}}}}}}}}}
access-log: {folder}/access.log
pid-file: {folder}/pid
"""
HAPROXY = """global
  log stdout format raw local0
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend f
  bind 127.0.0.1:{port}
  log global
  option {option}
  http-request return status 200
"""
SQUID = """http_port 127.0.0.1:{port} accel defaultsite=shop.example vhost
http_access allow all
cache_peer 127.0.0.1 parent 9 0 no-query originserver
strip_query_terms off
access_log stdio:{folder}/access.log {form}
cache_log {folder}/cache.log
pid_filename {folder}/pid
coredump_dir {folder}
shutdown_lifetime 1 second
"""
CADDY = """{{
  admin off
  auto_https off
}}
http://:{port} {{
  log {{
    output file {folder}/access.log
  }}
  respond x
}}
"""
WSGI = (
    "def app(environ, start):\n    start('200 OK', [('Content-Length', '1')])\n    return [b'x']\n"
)
ASGI = """async def app(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    await send({{"type": "http.response.body", "body": b"x"}})
"""
AIOHTTP = """import logging, sys
from aiohttp import web
logging.basicConfig(filename="access.log", level=logging.INFO, format="%(message)s")
app = web.Application()
app.router.add_route("*", "/{{tail:.*}}", lambda request: answer())
async def answer():
    return web.Response(text="x")
web.run_app(app, host="127.0.0.1", port={port}, print=None)
"""
CHERRYPY = """import cherrypy
class Root:
    @cherrypy.expose
    def default(self, *words, **query):
        return "x"
cherrypy.config.update({{"server.socket_port": {port}, "log.access_file": "access.log",
    "log.screen": False, "engine.autoreload.on": False}})
cherrypy.quickstart(Root())
"""
TWISTED = """from twisted.internet import reactor
from twisted.web import resource, server
class Root(resource.Resource):
    isLeaf = True
    def render_GET(self, request):
        return b"x"
reactor.listenTCP({port}, server.Site(Root(), logPath=b"access.log"), interface="127.0.0.1")
reactor.run()
"""
VARNISH = """varnishd -n {folder}/v -a 127.0.0.1:{port} -f {folder}/v.vcl -P {folder}/pid
trap 'timeout 3 varnishncsa -d -n {folder}/v -w {folder}/access.log; kill $(cat {folder}/pid)' TERM
sleep 60 &
wait
"""
VCL = """vcl 4.1;
backend default none;
sub vcl_recv {{ return (synth(200)); }}
"""
RUN = "sh {folder}/run.sh"
SQUID_COMMAND = "squid -N -f {folder}/squid.conf"
PYTHON = "{python} {folder}/main.py"
SERVERS = {
    "nginx": Server("nginx", {"nginx.conf": NGINX}, "nginx -p {folder} -c {folder}/nginx.conf"),
    "nginx by its format": Server(
        "nginx",
        {"nginx.conf": NGINX},
        "nginx -p {folder} -c {folder}/nginx.conf",
        log_format="combined",
    ),
    "apache": Server(
        "apache2", {"apache.conf": APACHE}, "apache2 -X -f {folder}/apache.conf"
    ),
    "lighttpd": Server(
        "lighttpd",
        {
            "lighttpd.conf": 'server.port = {port}\nserver.bind = "127.0.0.1"\n'
            'server.document-root = "{folder}"\nserver.modules = ("mod_accesslog")\n'
            'accesslog.filename = "{folder}/access.log"\n'
        },
        "lighttpd -D -f {folder}/lighttpd.conf",
    ),
    "h2o": Server("h2o", {"h2o.conf": H2O}, "h2o -c {folder}/h2o.conf"),
    "haproxy clf": Server(
        "haproxy",
        {"haproxy.cfg": HAPROXY.replace("{option}", "httplog clf")},
        "haproxy -f {folder}/haproxy.cfg",
        log="out",
    ),
    "haproxy": Server(
        "haproxy",
        {"haproxy.cfg": HAPROXY.replace("{option}", "httplog")},
        "haproxy -f {folder}/haproxy.cfg",
        log="out",
        log_format="haproxy",
    ),
    "squid": Server(
        "squid",
        {"squid.conf": SQUID.replace("{form}", "squid")},
        SQUID_COMMAND,
        log_format="squid",
    ),
    "squid combined": Server(
        "squid", {"squid.conf": SQUID.replace("{form}", "combined")}, SQUID_COMMAND
    ),
    "varnish": Server("varnishd", {"run.sh": VARNISH, "v.vcl": VCL}, RUN, changed="25"),
    "caddy": Server("caddy", {"Caddyfile": CADDY}, "caddy run", changed="04"),
    "gunicorn": Server(
        "gunicorn",
        {"main.py": WSGI},
        "{python} -m gunicorn --bind 127.0.0.1:{port} --access-logfile access.log main:app",
    ),
    "daphne": Server(
        "daphne",
        {"main.py": ASGI},
        "{python} -m daphne -b 127.0.0.1 -p {port} --access-log access.log main:app",
    ),
    "aiohttp": Server("aiohttp", {"main.py": AIOHTTP}, PYTHON, changed="02 09"),
    "cherrypy": Server("cherrypy", {"main.py": CHERRYPY}, PYTHON, changed="02 05 /cart 10"),
    "twisted": Server("twisted", {"main.py": TWISTED}, PYTHON),
}  # fmt: skip


@contextmanager
def running(server: Server, folder: Path, port: int) -> Iterator[None]:
    """The server, until the block ends."""

    def fill(text: str) -> str:
        return text.format(folder=folder, port=port, python=sys.executable)

    for name, text in server.files.items():
        (folder / name).write_text(fill(text))
    folder.chmod(0o777)  # some servers leave root's rights
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(fill(server.command).split(), cwd=folder, stdout=out, stderr=err)
        try:
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert process.poll() is None, (folder / "err").read_text()
                    time.sleep(0.1)
            yield
        finally:
            process.terminate()
            process.wait(20)


@pytest.mark.parametrize("name", SERVERS)
def test_a_log_is_read_exactly_or_not_at_all(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = SERVERS[name]
    if not (shutil.which(server.needs) or find_spec(server.needs)):
        pytest.skip(f"{server.needs} is not installed")
    with TemporaryDirectory() as name:  # servers that leave root's rights can reach it
        judge_log(server, Path(name))
    assert "disallowed: 1 by 1 of them" in capsys.readouterr().out


def judge_log(server: Server, folder: Path) -> None:
    """Ask a server, and read its log."""
    port = free_port()
    with running(server, folder, port):
        sent = ask(port)
    log = folder / server.log
    read = reader(server.log_format)
    wrong: list[str] = []
    exact: list[str] = []
    for line in log.read_bytes().splitlines():
        try:
            request = read(line)
        except ValueError:
            continue
        if request is None:
            continue
        path = re.sub(r"\A(?:https?:)?//[^/]*", "", request.url)
        number = re.search(r"/n(\d\d)", path)
        if number is None:
            wrong += [path] if path != "/" else []
            continue
        is_exact = canonical(path) == canonical(sent[number[1]])
        (exact if is_exact else wrong).append(number[1])
        assert abs(request.time - time.time()) < 24 * 3600
        if (at := int(number[1]) - len(TARGETS + HEADERS)) >= 0 and request.agent is not None:
            assert request.agent.replace("\t", " ").encode() == AGENTS[at].replace(b"\t", b" ")
    assert wrong == server.changed.split()
    assert len(exact) >= server.fewest
    (folder / "robots.txt").write_text("User-agent: examplebot\nDisallow: /n00\n")
    words = ["audit", str(log), "--robots", str(folder / "robots.txt"), "--token", "examplebot"]
    words += ["--log-format", server.log_format] if server.log_format else []
    assert main(words) == 1
