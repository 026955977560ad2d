#!/usr/bin/env bash
# sphinx-sitemap lists the pages of docs.example.com as those of the hosts docs.example.comen and docs.example.comintro.html.
#
# Version: sphinx-sitemap 2.9.0 with Sphinx 8.2.3 (PyPI).
# Source: Sphinx's documentation of html_baseurl: the URL of the root of the HTML documentation; the same setting makes
# the canonical link of each page. The plugin's code adds a slash where there is none.
# Expected: https://docs.example.com/en/intro.html, with or without a slash at the end of the setting.
# Behaviour: the slash is added to a copy that nothing uses. Sphinx's own canonical link is right, so the setting looks
# right; the build has no warning.
# What follows: the sitemap's URLs are of hosts that belong to others, or to no one. Crawlers drop them as those of another
# site, or ask there.
# Output:
#   https://docs.example.com/: canonical https://docs.example.com/intro.html, sitemap https://docs.example.com/en/intro.html
#   https://docs.example.com: canonical https://docs.example.com/intro.html, sitemap https://docs.example.comen/intro.html
#   https://docs.example.com, scheme {link}: canonical https://docs.example.com/intro.html, sitemap https://docs.example.comintro.html
source "$(dirname "$0")/common.sh"

pypi sphinx-sitemap==2.9.0 sphinx==8.2.3
mkdir "$work/docs"
cd "$work/docs"
"$python" - <<'PY' | confirm
import re
import subprocess
import sys
from pathlib import Path

Path("index.rst").write_text("Start\n=====\n\n.. toctree::\n\n   intro\n")
Path("intro.rst").write_text("Intro\n=====\n")
for url, scheme in (
    ("https://docs.example.com/", None),
    ("https://docs.example.com", None),
    ("https://docs.example.com", "{link}"),
):
    lines = [f"html_baseurl = {url!r}", "extensions = ['sphinx_sitemap']"]
    if scheme:
        lines.append(f"sitemap_url_scheme = {scheme!r}")
    Path("conf.py").write_text("\n".join(lines) + "\n")
    # -E -W: all pages anew, and a warning is an error.
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-E", "-W", ".", "html"], check=True)
    page = Path("html/intro.html").read_text()
    canonical = re.search('rel="canonical" href="([^"]*)"', page).group(1)
    sitemap = Path("html/sitemap.xml").read_text()
    (listed,) = re.findall("<loc>([^<]*intro.html)</loc>", sitemap)
    label = url + (f", scheme {scheme}" if scheme else "")
    print(f"{label}: canonical {canonical}, sitemap {listed}")
PY
