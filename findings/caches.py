"""An origin on loopback and HTTP caches in front of it, for the findings about caches."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(os.environ["ROOT"])


class Origin:
    """A server whose answer can change; ``requests`` counts what reaches it."""

    def __init__(self):
        self.status, self.headers, self.body, self.requests = 200, [], b"", 0
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                origin.requests += 1
                self.send_response_only(origin.status)
                self.send_header("Date", self.date_time_string())
                for name, value in [*origin.headers, ("Content-Length", str(len(origin.body)))]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(origin.body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, status, body, *headers):
        """The answer from now on; the count starts at 0."""
        self.status, self.body, self.headers, self.requests = status, body, headers, 0


def get(port, path="/robots.txt"):
    """Status, headers (names in lower case) and body of a request through a cache."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": "example.com"})
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    body = response.read().decode()
    connection.close()
    return response.status, headers, body


@contextmanager
def running(cache, origin):
    """Run a cache in front of an origin; the value is its port."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = cache(Path(folder), port, origin.port)
        with open(Path(folder, "output"), "wb") as output:
            process = subprocess.Popen(
                command, cwd=folder, stdout=output, stderr=output, start_new_session=True
            )
        try:
            _wait(port, process, Path(folder, "output"))
            _warm_up(port, origin)
            yield port
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(port, process, output):
    for _ in range(600):
        try:
            if get(port, "/ready")[0]:
                return
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
        if process.poll() is not None:
            break
    raise SystemExit(output.read_text(errors="replace"))


def _warm_up(port, origin):
    """Wait until the cache keeps something: on a busy machine the first answers are not kept."""
    origin.answer(200, b"ready", ("Cache-Control", "max-age=600"))
    for number in range(100):
        origin.requests = 0
        for _ in range(3):
            get(port, f"/ready/{number}")
        if origin.requests == 1:
            return
        time.sleep(0.1)
    raise SystemExit("the cache keeps nothing")


def varnish(folder, port, origin):
    """Varnish with its built-in configuration."""
    return [ROOT / "usr/sbin/varnishd", "-F", "-n", folder / "work", "-a", f"127.0.0.1:{port}",
            "-b", f"127.0.0.1:{origin}", "-s", "malloc,16m", "-j", "none"]  # fmt: skip


def nginx(folder, port, origin):
    """nginx with a cache and no times of its own."""
    folders = " ".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;"
        "events {} http { access_log off; "
        + folders
        + f"proxy_cache_path {folder}/cache keys_zone=files:1m;"
        f"server {{ listen 127.0.0.1:{port}; location / {{"
        f" proxy_pass http://127.0.0.1:{origin}; proxy_cache files; }} }} }}"
    )
    program = ROOT / "usr/sbin/nginx"
    return [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "errors"]


def squid(folder, port, origin):
    """Squid in front of one site, with its defaults."""
    share = ROOT / "usr/share/squid"
    (folder / "squid.conf").write_text(
        f"http_port 127.0.0.1:{port} accel defaultsite=example.com no-vhost\n"
        f"cache_peer 127.0.0.1 parent {origin} 0 no-query originserver\n"
        "http_access allow all\ncache_mem 16 MB\npid_filename none\naccess_log none\n"
        f"cache_log {folder}/cache.log\nmime_table {share}/mime.conf\n"
        f"icon_directory {share}/icons\n"
        f"error_directory {share}/errors/en\ncoredump_dir {folder}\npinger_enable off\n"
        f"unlinkd_program {ROOT}/usr/lib/squid/unlinkd\nvisible_hostname cache.example\n"
    )
    return [ROOT / "usr/sbin/squid", "-N", "-f", folder / "squid.conf"]


def trafficserver(folder, port, origin):
    """Apache Traffic Server with its defaults."""
    etc = folder / "etc"
    shutil.copytree(ROOT / "etc/trafficserver", etc)
    for name in ("run", "log", "cache"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    usr = ROOT / "usr"
    places = {
        "prefix": folder, "exec_prefix": folder, "bindir": usr / "bin", "sbindir": usr / "bin",
        "sysconfdir": etc, "datadir": usr / "share", "includedir": usr / "include",
        "libdir": usr / "lib", "libexecdir": usr / "lib/trafficserver/modules",
        "localstatedir": folder, "runtimedir": folder / "run", "logdir": folder / "log",
        "mandir": usr / "share/man", "infodir": usr / "share/info", "cachedir": folder / "cache",
    }  # fmt: skip
    runroot = "".join(f"{key}: {path}\n" for key, path in places.items())
    (folder / "runroot.yaml").write_text(runroot)
    (etc / "remap.config").write_text(f"map / http://127.0.0.1:{origin}/\n")
    (etc / "storage.config").write_text(f"{folder}/cache 32M\n")
    settings = {
        "http.server_ports STRING": f"{port}:ip-in=127.0.0.1", "admin.user_id STRING": "nobody",
        "log.logging_enabled INT": 0, "crash_log_helper STRING": "",
        "body_factory.template_sets_dir STRING": etc / "body_factory",
        "exec_thread.autoconfig.enabled INT": 0, "exec_thread.limit INT": 2,
    }  # fmt: skip
    lines = [f"CONFIG proxy.config.{key} {value}\n" for key, value in settings.items()]
    (etc / "records.config").write_text("".join(lines))
    return [usr / "bin/traffic_server", f"--run-root={folder}/runroot.yaml"]


def apache(folder, port, origin):
    """Apache with mod_cache on disk and its defaults."""
    names = ("mpm_event", "authz_core", "proxy", "proxy_http", "cache", "cache_disk")
    modules = ROOT / "usr/lib/apache2/modules"
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    (folder / "httpd.conf").write_text(
        "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n" for name in names)
        + f"ServerRoot {folder}\nServerName cache.example\nListen 127.0.0.1:{port}\n"
        f"PidFile {folder}/pid\nErrorLog {folder}/errors\nDefaultRuntimeDir {folder}\n"
        + ("User nobody\nGroup nogroup\n" if os.getuid() == 0 else "")
        + f"CacheRoot {folder}/cache\nCacheEnable disk /\nProxyPass / http://127.0.0.1:{origin}/\n"
    )
    return [ROOT / "usr/sbin/apache2", "-D", "FOREGROUND", "-f", folder / "httpd.conf"]
