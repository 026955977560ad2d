#!/usr/bin/env bash
# Three readers of access logs end a User-Agent at an escaped quotation mark, and do not know the crawler behind it.
#
# Version: accesslog 0.1.0b5, ai-crawler-logs 1.0.1, clfparser 0.3 (PyPI), against Debian's goaccess 1:1.7-1.
# Source: Apache's manual, mod_log_config: in values of header fields a quotation mark is written as \"; each of
# the readers is for Apache's Combined Log Format by its own description.
# Expected: the whole User-Agent, as with GoAccess.
# Behaviour: the value ends at the backslash. The rest is another field, or is dropped, and no error is counted.
# What follows: a report of crawlers counts such requests as those of browsers.
# Output:
#   written: Mozilla/5.0 (compatible; \"Example\" GPTBot/1.2; +https://example.com/)
#   accesslog: Mozilla/5.0 (compatible; \
#   ai-crawler-logs: 0 of 1 requests identified
#   clfparser: "Mozilla/5.0 (compatible; \"
#   goaccess: Crawlers, GPTBot/1.2
source "$(dirname "$0")/common.sh"

debian 'goaccess=1:1.7-1'
pypi accesslog==0.1.0b5 ai-crawler-logs==1.0.1 clfparser==0.3
cd "$work"
"$python" - <<'PY' | confirm
import json
import os
import subprocess
from pathlib import Path

from clfparser import CLFParser

AGENT = r"Mozilla/5.0 (compatible; \"Example\" GPTBot/1.2; +https://example.com/)"
LINE = f'192.0.2.1 - - [29/Nov/2026:12:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 5 "-" "{AGENT}"\n'
Path("access.log").write_text(LINE)


def run(*command):
    environment = {**os.environ, "TERM": "xterm"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


print(f"written: {AGENT}")
print(f"accesslog: {json.loads(run('accesslog', '-j', 'agent', 'access.log'))['agent']}")
summary = run("ai-crawler-logs", "access.log")
print(f"ai-crawler-logs: {0 if ', 0 identified' in summary else 'some'} of 1 requests identified")
print(f"clfparser: {CLFParser.logDict(LINE)['Useragent']}")
run("goaccess", "access.log", "--no-global-config", "--log-format=COMBINED", "-o", "report.json")
kind = json.loads(Path("report.json").read_text())["browsers"]["data"][0]
print(f"goaccess: {kind['data']}, {kind['items'][0]['data']}")
PY
