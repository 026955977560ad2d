#!/usr/bin/env bash
# The access log of Varnish has hosts that nobody asked for: "shop.example*".
#
# Version: varnish 7.1.1-2+deb12u1 (Debian 12): varnishncsa with its default format.
# Source: RFC 9112, section 3.3: the target URI of "OPTIONS *" is scheme and host without a path, and
# that of CONNECT is the host and port of its request line.
# Expected: OPTIONS http://shop.example, or the request line as it came; CONNECT shop.example:443.
# Behaviour: varnishncsa writes http://, the Host header and the request target behind each other,
# whatever form the target has, unless it begins with http:// itself.
# What follows: readers of the log count sites that do not exist, with names that a client chooses in
# part. Monitors send OPTIONS *, and those who look for open proxies CONNECT.
# Output:
#   GET /a -> GET http://shop.example/a; host: shop.example
#   GET http://shop.example/b -> GET http://shop.example/b; host: shop.example
#   OPTIONS * -> OPTIONS http://shop.example*; host: shop.example*
#   CONNECT shop.example:443 -> CONNECT http://shop.exampleshop.example:443; host: shop.exampleshop.example
source "$(dirname "$0")/common.sh"

debian 'varnish=7.1.1-*'
"$python" - <<'PY' | confirm
import re
import socket
import subprocess
from urllib.parse import urlsplit

from caches import ROOT, Origin, running, varnish

REQUESTS = "GET /a", "GET http://shop.example/b", "OPTIONS *", "CONNECT shop.example:443"
folders = []


def command(folder, port, origin):
    folders.append(folder)
    return varnish(folder, port, origin)


def log():
    program = ROOT / "usr/bin/varnishncsa"
    words = [program, "-d", "-n", folders[0] / "work"]
    lines = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True).stdout
    return re.findall(r'"(\S+ \S+) HTTP/1.1" .* "asked"$', lines, re.MULTILINE)


with running(command, Origin()) as port:
    for request in REQUESTS:
        head = f"{request} HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: asked\r\n"
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
            while connection.recv(65536):
                pass
    for request, logged in zip(REQUESTS, log(), strict=True):
        print(f"{request} -> {logged}; host: {urlsplit(logged.split()[1]).hostname}")
PY
