#!/usr/bin/env bash
# AWStats takes a request for robots.txt for a robot's, and the next one of the same client for a visitor's.
#
# Version: Debian's awstats 7.8-3+deb12u2.
# Source: its report names "Unknown robot (identified by hit on 'robots.txt')", beside robots that are identified
# by their name and counted apart from visitors.
# Expected: a client that is identified so is a robot, with its pages; or, as a browser may open
# robots.txt too, a visitor with all it requested.
# Behaviour: the request alone is the robot. Its sender's pages, in the same log, are those of a visitor.
# What follows: robots and visitors do not add up to clients; a new crawler that obeys robots.txt
# appears as a robot without pages and as a reader; a person who looks at the file is a robot once.
# Output:
#   examplecollector/1.0, robots.txt and 3 pages: robot hits 1, visitor pages 3
#   Firefox, robots.txt and 1 page: robot hits 1, visitor pages 1
#   examplebot/1.0, robots.txt and 3 pages: robot hits 4, visitor pages 0
source "$(dirname "$0")/common.sh"

debian 'awstats=7.8-*'
cd "$work"
# The script looks for its list of robots beside itself.
cp "$ROOT/usr/lib/cgi-bin/awstats.pl" "$work"
ln -s "$ROOT/usr/share/awstats/lib" "$work/lib"
"$python" - <<'PY' | confirm
import re
import subprocess
from pathlib import Path

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CLIENTS = (
    ("examplecollector/1.0", "examplecollector/1.0 (+https://example.com/)", 3),
    ("Firefox", FIREFOX, 1),
    ("examplebot/1.0", "examplebot/1.0 (+https://example.com/)", 3),
)
CONFIGURATION = """LogFile="{site}.log"
LogType=W
LogFormat=1
SiteDomain="example.com"
HostAliases="example.com"
DNSLookup=0
DirData="{folder}"
"""


def numbers(report, part, columns):
    text = re.search(rf"^BEGIN_{part} \d+\n(.*?)^END_{part}$", report, re.MULTILINE | re.DOTALL)[1]
    return sum(int(line.split()[columns]) for line in text.splitlines())


for number, (name, agent, pages) in enumerate(CLIENTS):
    site = f"site{number}"
    paths = ["/robots.txt", *(f"/page{page}.html" for page in range(pages))]
    Path(f"{site}.log").write_text(
        "".join(
            f'192.0.2.1 - - [29/Nov/2026:12:00:{second:02} +0000] "GET {path} HTTP/1.1" 200 5 "-" "{agent}"\n'
            for second, path in enumerate(paths)
        )
    )
    folder = Path(site)
    folder.mkdir()
    Path(f"awstats.{site}.conf").write_text(CONFIGURATION.format(site=site, folder=folder))
    command = ["perl", "awstats.pl", f"-config={site}", f"-configdir={Path.cwd()}", "-update"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    report = next(folder.glob("awstats*.txt")).read_text()
    robots, visitors = numbers(report, "ROBOT", 1), numbers(report, "VISITOR", 1)
    count = f"{pages} page{'s' if pages > 1 else ''}"
    print(f"{name}, robots.txt and {count}: robot hits {robots}, visitor pages {visitors}")
PY
