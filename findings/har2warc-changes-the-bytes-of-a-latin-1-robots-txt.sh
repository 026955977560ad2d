#!/usr/bin/env bash
# har2warc writes a robots.txt in ISO 8859-1 as UTF-8, and leaves "charset=ISO-8859-1" beside it.
#
# Version: har2warc 1.0.4 with warcio 1.8.1 (PyPI), on a HAR file as browsers and proxies write it.
# Source: HAR 1.2, content.text: text is stored in UTF-8, whatever its original charset, with mimeType
# as it was sent; the WARC standard: a response record has what the server sent.
# Expected: the bytes that the charset of the response says, or another charset beside other bytes.
# Behaviour: the text is encoded as UTF-8, Content-Length and digests with it. Content-Type remains.
# What follows: the site's rule for /caf%E9/ is one for /caf%C3%A9/ in the archive, and to who reads
# it by its charset one for a path with "Ã©". The digest confirms the bytes that nobody sent.
# Output:
#   charset=ISO-8859-1: sent /caf\xe9/, archived /caf\xc3\xa9/ as charset=ISO-8859-1; warcio check: passed
#   charset=UTF-8: sent /caf\xc3\xa9/, archived /caf\xc3\xa9/ as charset=UTF-8; warcio check: passed
source "$(dirname "$0")/common.sh"

pypi har2warc==1.0.4 warcio==1.8.1 setuptools==80.9.0
cd "$work"
"$python" - <<'PY' | confirm
import json
import re
import subprocess
from gzip import decompress
from pathlib import Path

TEXT = "User-agent: *\nDisallow: /café/\n"


def path_in(data):
    return str(re.search(rb"Disallow: (\S+)", data)[1])[2:-1]


for charset in ("ISO-8859-1", "UTF-8"):
    sent = TEXT.encode(charset)
    kind = f"text/plain; charset={charset}"
    message = {"httpVersion": "HTTP/1.1", "cookies": [], "headersSize": -1}
    entry = {
        "startedDateTime": "2026-11-29T12:00:00.000Z",
        "time": 1,
        "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 0},
        "request": {
            **message,
            "method": "GET",
            "url": "https://example.com/robots.txt",
            "headers": [{"name": "Host", "value": "example.com"}],
            "queryString": [],
            "bodySize": 0,
        },
        "response": {
            **message,
            "status": 200,
            "statusText": "OK",
            "headers": [
                {"name": "Content-Type", "value": kind},
                {"name": "Content-Length", "value": str(len(sent))},
            ],
            "content": {"size": len(sent), "mimeType": kind, "text": TEXT},
            "redirectURL": "",
            "bodySize": len(sent),
        },
    }
    creator = {"name": "browser", "version": "1"}
    har = {"log": {"version": "1.2", "creator": creator, "pages": [], "entries": [entry]}}
    Path("session.har").write_text(json.dumps(har), encoding="utf-8")
    subprocess.run(["har2warc", "session.har", "session.warc.gz"], check=True)
    archived = decompress(Path("session.warc.gz").read_bytes())
    check = subprocess.run(["warcio", "check", "session.warc.gz"], capture_output=True)
    stated = re.search(rb"Content-Type: text/plain; (\S+)", archived)[1].decode()
    print(
        f"charset={charset}: sent {path_in(sent)}, archived {path_in(archived)} as {stated}; "
        f"warcio check: {'failed' if check.returncode else 'passed'}"
    )
PY
