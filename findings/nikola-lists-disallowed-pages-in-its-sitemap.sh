#!/usr/bin/env bash
# Nikola's sitemap has the pages that its robots.txt disallows with a wildcard.
#
# Version: Nikola 8.3.3 (PyPI) under Python 3.10 to 3.14.
# Source: conf.py as "nikola init" writes it: the files of ROBOTS_EXCLUSIONS are excluded from robots.txt and sitemap,
# "* is supported", with the example ["/archive.html", "/category/*.html"].
# Expected: what robots.txt disallows is not in the sitemap.
# Behaviour: robots.txt has each exclusion as a Disallow line. For the sitemap each is asked of urllib.robotparser, to
# which "*" and "$" are letters until Python 3.15: such a pattern excludes nothing there.
# What follows: the sitemap offers to crawlers what the file beside it forbids them, from the example in the
# configuration on. Search engines report such URLs as errors of the owner.
# Output:
#   robots.txt: Disallow: /pages/closed/
#   robots.txt: Disallow: /pages/draft-*.html
#   sitemap.xml: /pages/closed/ False, /pages/draft-a.html True, /pages/open.html True
source "$(dirname "$0")/common.sh"

pypi nikola==8.3.3
cd "$work"
nikola init -q -d site >"$work/log" 2>&1
cd site
cat >>conf.py <<'PY'
SITE_URL = "https://example.com/"
PRETTY_URLS = False
ROBOTS_EXCLUSIONS = ["/pages/closed/", "/pages/draft-*.html"]
PY
for name in open draft-a closed/a; do
    mkdir -p "pages/$(dirname $name)"
    printf '.. title: Page\n.. slug: %s\n.. date: 2026-01-12 03:15:00 UTC\n\nText\n' "$(basename $name)" >"pages/$name.rst"
done
nikola build >>"$work/log" 2>&1 || { tail -5 "$work/log"; exit 2; }
"$python" - <<'PY' | confirm
from pathlib import Path

for line in Path("output/robots.txt").read_text().splitlines():
    if line.startswith("Disallow"):
        print(f"robots.txt: {line}")
for name in ("closed/a", "draft-a", "open"):
    assert Path(f"output/pages/{name}.html").exists(), name
sitemap = Path("output/sitemap.xml").read_text()
paths = ("/pages/closed/", "/pages/draft-a.html", "/pages/open.html")
print("sitemap.xml:", ", ".join(f"{path} {'https://example.com' + path in sitemap}" for path in paths))
PY
