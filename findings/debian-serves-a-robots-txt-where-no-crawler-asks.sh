#!/usr/bin/env bash
# Three web programs of Debian come with a robots.txt that closes them, at a URL that no crawler requests.
#
# Version: phpmyadmin 4:5.2.1+dfsg-1+deb12u1, cgit 1.2.3+git20221219.50.91f2590+git2.39.1-1,
#   zabbix-frontend-php 1:6.0.14+dfsg-1 (Debian 12), each with the configuration for Apache in its package.
# Source: RFC 9309, section 2.3: the file is at "/robots.txt" in the top-level path of the service.
# Expected: a package that contains a robots.txt and a configuration for the web server closes its pages.
# Behaviour: each configuration maps a folder, and the robots.txt lies in it: it is served as
# /phpmyadmin/robots.txt, even as /cgit-css/robots.txt beside pages below /cgit/. /robots.txt is a 404,
# which allows everything. Only the text of Zabbix says where it would count.
# What follows: crawlers load database logins, and each snapshot and blame page of a forge, which its
# maintainers meant to forbid; an owner who looks for the file finds it, in the package and by a browser.
# Output:
#   phpmyadmin: /robots.txt 404, /phpmyadmin/robots.txt 200 with "Disallow: /"; /phpmyadmin/index.php may be fetched: True
#   cgit: /robots.txt 404, /cgit-css/robots.txt 200 with "Disallow: /*/snapshot/*"; /cgit/tool/snapshot/tool.zip may be fetched: True
#   zabbix: /robots.txt 404, /zabbix/robots.txt 200 with "Disallow: /"; /zabbix/index.php may be fetched: True
source "$(dirname "$0")/common.sh"

debian 'apache2-bin=2.4.*'
mkdir "$work/packages"
(cd "$work/packages" && apt-get download -qq 'phpmyadmin=4:5.2.1+dfsg-1*' 'cgit=1.2.3+git20221219*' 'zabbix-frontend-php=1:6.0.14*') 2>"$work/apt.log" ||
    { cat "$work/apt.log"; exit 2; }
for archive in "$work"/packages/*.deb; do dpkg-deb -x "$archive" "$work/system"; done
# The configurations name folders of the system; here they are below the temporary one.
cat "$ROOT"/etc/phpmyadmin/apache.conf "$ROOT"/etc/apache2/conf-available/{cgit,zabbix-frontend-php}.conf |
    sed "s#\(^\| \|\"\|\^\)/\(usr\|var\)/#\1$ROOT/\2/#g" >"$work/programs.conf"
"$python" - <<'PY' | confirm
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import urllib.robotparser
from pathlib import Path

root = Path(os.environ["ROOT"])
work = root.parent
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
(work / "site").mkdir()
modules = "mpm_event", "authz_core", "alias", "dir", "cgid"
(work / "httpd.conf").write_text(
    "".join(f"LoadModule {name}_module {root}/usr/lib/apache2/modules/mod_{name}.so\n" for name in modules)
    + f'ServerRoot {work}\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile {work}/pid\n'
    f"ScriptSock {work}/cgi\nDefaultRuntimeDir {work}\nErrorLog {work}/errors\n"
    f"DocumentRoot {work}/site\nUser nobody\nGroup nogroup\n<Directory />\nRequire all granted\n</Directory>\n"
    f"Include {work}/programs.conf\n"
)
server = subprocess.Popen([root / "usr/sbin/apache2", "-X", "-f", work / "httpd.conf"], start_new_session=True)


def get(path):
    """Status and text of a request."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


try:
    for _ in range(300):
        try:
            get("/")
            break
        except OSError:
            time.sleep(0.1)
    for name, place, page in (
        ("phpmyadmin", "/phpmyadmin", "/phpmyadmin/index.php"),
        ("cgit", "/cgit-css", "/cgit/tool/snapshot/tool.zip"),
        ("zabbix", "/zabbix", "/zabbix/index.php"),
    ):
        status, text = get(f"{place}/robots.txt")
        rule = next((line for line in text.splitlines() if line.startswith("Disallow")), "nothing")
        parser = urllib.robotparser.RobotFileParser(f"http://127.0.0.1:{port}/robots.txt")
        parser.read()
        allowed = parser.can_fetch("examplebot", page)
        print(f'{name}: /robots.txt {get("/robots.txt")[0]}, {place}/robots.txt {status} with "{rule}"; '
              f"{page} may be fetched: {allowed}")
finally:
    os.killpg(server.pid, signal.SIGKILL)
PY
