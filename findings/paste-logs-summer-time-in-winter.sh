#!/usr/bin/env bash
# Paste's access log has the zone of summer time all winter, and half an hour as fifty minutes.
#
# Version: Paste 3.10.1 (PyPI), its TransLogger; the clock by Debian's libfaketime 0.9.10.
# Source: the module's docstring: "Apache combined log format"; Apache's manual, mod_log_config: %t ends with the
# offset from UTC as hours and minutes.
# Expected: a request at 12:00 UTC is logged as a local time that is 12:00 UTC.
# Behaviour: where a zone has summer time at all, its offset is logged the whole year, beside the local time of
# winter. And an offset is a decimal number: 5.5 hours are +0550, 5.75 hours +0575, which is no offset.
# What follows: from autumn to spring Paste's log is an hour early beside that of the proxy before it; what
# a crawler requests in the hour after a new robots.txt seems to precede it.
# Output:
#   Europe/Berlin, July: 14:00:00 +0200 -> 12:00 UTC
#   Europe/Berlin, January: 13:00:00 +0200 -> 11:00 UTC
#   America/New_York, January: 07:00:00 -0400 -> 11:00 UTC
#   Asia/Kolkata, January: 17:30:00 +0550 -> 11:40 UTC
#   Asia/Kathmandu, January: 17:45:00 +0575 -> ValueError
#   Asia/Tokyo, January: 21:00:00 +0900 -> 12:00 UTC
source "$(dirname "$0")/common.sh"

debian 'libfaketime=0.9.10-*' 'tzdata'
pypi Paste==3.10.1 setuptools==80.9.0
cat >"$work/log.py" <<'PY'
import http.client
import io
import logging
import threading
from datetime import datetime, timezone
from wsgiref.simple_server import WSGIRequestHandler, make_server

from paste.translogger import TransLogger


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def page(environ, start_response):
    start_response("200 OK", [("Content-Length", "0")])
    return []


log = io.StringIO()
logging.getLogger("wsgi").addHandler(logging.StreamHandler(log))
application = TransLogger(page, setup_console_handler=False)
with make_server("127.0.0.1", 0, application, handler_class=Quiet) as server:
    threading.Thread(target=server.handle_request, daemon=True).start()
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    client.request("GET", "/robots.txt")
    client.getresponse().read()
stamp = log.getvalue().split("[")[1].split("]")[0]
try:
    moment = datetime.strptime(stamp, "%d/%b/%Y:%H:%M:%S %z").astimezone(timezone.utc)
    meaning = moment.strftime("%H:%M UTC")
except ValueError:
    meaning = "ValueError"
print(f"{stamp.partition(':')[2]} -> {meaning}")
PY
clock=$(find "$ROOT" -name libfaketime.so.1)
export TZDIR=$ROOT/usr/share/zoneinfo FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_RESET=1
at() {
    printf '%s: ' "$1, $2"
    # A clock that stands still.
    TZ=$1 LD_PRELOAD=$clock FAKETIME=$3 "$python" "$work/log.py"
}
{
    at Europe/Berlin July '2026-07-15 14:00:00'
    at Europe/Berlin January '2026-01-15 13:00:00'
    at America/New_York January '2026-01-15 07:00:00'
    at Asia/Kolkata January '2026-01-15 17:30:00'
    at Asia/Kathmandu January '2026-01-15 17:45:00'
    at Asia/Tokyo January '2026-01-15 21:00:00'
} | confirm
