#!/usr/bin/env bash
# agent-census says "ignores-robots" of a crawler that obeys "/search$", and "respects" of one that ignores "/*?s=".
#
# Version: agent-census 0.4.4 (PyPI).
# Source: its report: "respect (requested no disallowed paths)"; RFC 9309, section 2.2.2: a rule is compared with path
# and query of a URL; its README: the audit reads Apache's combined format, which has the query.
# Expected: the verdict on the request that the log contains.
# Behaviour: the query is cut off before the rules are asked, while other counts of the same report keep it. A "$"
# then ends at the question mark, and a rule for a query never matches.
# What follows: a site that closes its sorted and filtered lists sees no crawler that fetches them; one that closes a
# bare form accuses each crawler that obeys it.
# Output:
#   Disallow: /search$ with requests for /search?q=1 … /search?q=6: ignores-robots
#   Disallow: /*?sort= with requests for /list?sort=1 … /list?sort=6: respects robots.txt
#   Disallow: /list with requests for /list?sort=1 … /list?sort=6: ignores-robots
source "$(dirname "$0")/common.sh"

pypi agent-census==0.4.4
cd "$work"
export HOME=$work XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
"$python" - <<'PY' | confirm
import subprocess
from pathlib import Path

OPTIONS = "--md --robots-file robots.txt --no-verify-bots --no-fetch-ranges --log-format-preset combined"
AGENT = "Mozilla/5.0 (compatible; examplebot/1.0; +https://example.com/bot)"
for rule, target in (("/search$", "/search?q="), ("/*?sort=", "/list?sort="), ("/list", "/list?sort=")):
    Path("robots.txt").write_text(f"User-agent: *\nDisallow: {rule}\n")
    Path("access.log").write_text(
        "".join(
            f'192.0.2.1 - - [29/Nov/2026:12:00:{number:02} +0000] "GET {target}{number} HTTP/1.1" 200 5 "-" "{AGENT}"\n'
            for number in range(1, 7)
        )
    )
    command = ["agent-census", "analyze", "access.log", *OPTIONS.split()]
    report = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    counts = next(line for line in report.splitlines() if "| crawler | 1 | 6 |" in line)
    verdict = {"1✓ / 0✗ / 0?": "respects robots.txt", "0✓ / 1✗ / 0?": "ignores-robots"}
    shown = next(text for mark, text in verdict.items() if mark in counts)
    assert (shown == "ignores-robots") == ("ignores-robots" in report)
    print(f"Disallow: {rule} with requests for {target}1 … {target}6: {shown}")
PY
