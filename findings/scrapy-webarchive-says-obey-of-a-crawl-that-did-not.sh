#!/usr/bin/env bash
# scrapy-webarchive writes "robots: obey" into the archive of a crawl with ROBOTSTXT_OBEY=False on its command line.
#
# Version: scrapy-webarchive 0.5.3 with Scrapy 2.11.2 (PyPI), the newest that it can be installed with.
# Source: WARC 1.1, annex on warcinfo: "robots" is the policy that the harvester followed; Scrapy's documentation: -s
# sets a setting for one run, and getbool reads False, "False" and "0" alike.
# Expected: "robots: ignore" where no robots.txt was requested.
# Behaviour: the setting is taken as it stands. From the command line it is text, and "False" and "0" are true as texts.
# What follows: the archive certifies the opposite of what was done, to whoever has nothing but the archive.
# Output:
#   custom_settings, True: robots.txt requested True, closed page archived False, robots: obey
#   custom_settings, False: robots.txt requested False, closed page archived True, robots: ignore
#   -s ROBOTSTXT_OBEY=False: robots.txt requested False, closed page archived True, robots: obey
source "$(dirname "$0")/common.sh"

pypi scrapy-webarchive==0.5.3 scrapy==2.11.2 w3lib==2.3.1 twisted==24.11.0 protego==0.4.0 warcio==1.7.4 setuptools==79.0.1
cd "$work"
cat >spider.py <<'PY'
import scrapy


class Spider(scrapy.Spider):
    name = "example"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/private/page")

    def parse(self, response):
        pass


class Obeying(Spider):
    name = "obeying"
    custom_settings = {"ROBOTSTXT_OBEY": True}


class Ignoring(Spider):
    name = "ignoring"
    custom_settings = {"ROBOTSTXT_OBEY": False}
PY
"$python" - <<'PY' 2>"$work/errors" | confirm
import io
import subprocess
import zipfile
from pathlib import Path

from loopback import serving
from warcio.archiveiterator import ArchiveIterator


def answer(path):
    text = b"User-agent: *\nDisallow: /private/\n" if path == "/robots.txt" else b"Page"
    return 200, {"Content-Type": "text/plain"}, text


Path("scrapy.cfg").write_text("[settings]\ndefault = settings\n")
Path("settings.py").write_text(
    "SPIDER_MODULES = ['spider']\n"
    "EXTENSIONS = {'scrapy_webarchive.extensions.WaczExporter': 1}\n"
    f"SW_EXPORT_URI = '{Path.cwd()}/archives/' + '{{spider}}.wacz'\n"
    "TELNETCONSOLE_ENABLED = False\n"
)
Path("archives").mkdir()
cases = (
    ("custom_settings, True", "obeying", []),
    ("custom_settings, False", "ignoring", []),
    ("-s ROBOTSTXT_OBEY=False", "example", ["-s", "ROBOTSTXT_OBEY=False"]),
)
with serving(answer) as server:
    for case, name, options in cases:
        server.log.clear()
        subprocess.run(["scrapy", "crawl", name, "-a", f"site={server.url}", *options], check=True)
        with zipfile.ZipFile(f"archives/{name}.wacz") as archive:
            (warc,) = [each for each in archive.namelist() if each.startswith("archive/")]
            content = io.BytesIO(archive.read(warc))
        policy, urls = "", []
        for record in ArchiveIterator(content):
            if record.rec_type == "warcinfo":
                lines = record.content_stream().read().decode().splitlines()
                (policy,) = [line for line in lines if line.startswith("robots:")]
            elif record.rec_type == "response":
                urls.append(record.rec_headers.get_header("WARC-Target-URI"))
        asked = "/robots.txt" in server.log
        kept = f"{server.url}/private/page" in urls
        print(f"{case}: robots.txt requested {asked}, closed page archived {kept}, {policy}")
PY
