#!/usr/bin/env bash
# django-icv-sitemaps writes the "Crawl-delay: 10" of its README for one crawler, the last of the alphabet.
#
# Version: django-icv-sitemaps 3.6.0 with Django 5.2.8; read by Protego 0.7.0 (PyPI).
# Source: its README: ICV_SITEMAPS_ROBOTS_EXTRA_DIRECTIVES are extra lines that are appended to robots.txt, with the
# example ["Crawl-delay: 10"]; RFC 9309, section 2.2: a group ends at the next User-agent line, and neither a blank
# line nor a Sitemap line ends one.
# Expected: ten seconds for every crawler, or for those without a group of their own.
# Behaviour: groups are sorted by name, "*" first, and the line is behind the last one. It belongs to that.
# What follows: as long as there are rules for "*" alone, it applies to all. With the first rule for another crawler, of
# whichever kind, all others lose the delay, and that one gets it.
# Output:
#   rules for *: User-agent: * | Disallow: /admin/ | Sitemap: https://example.com/sitemap.xml | Crawl-delay: 10
#   rules for *: Googlebot 10.0, SemrushBot 10.0, examplebot 10.0
#   rules for * and SemrushBot: Googlebot None, SemrushBot 10.0, examplebot None
source "$(dirname "$0")/common.sh"

pypi django-icv-sitemaps==3.6.0 django==5.2.8 protego==0.7.0
cd "$work"
"$python" - <<'PY' | confirm
import django
from django.conf import settings
from django.core.management import call_command
from protego import Protego

settings.configure(
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "icv_sitemaps",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    ICV_SITEMAPS_BASE_URL="https://example.com",
    ICV_SITEMAPS_ROBOTS_EXTRA_DIRECTIVES=["Crawl-delay: 10"],
)
django.setup()
call_command("migrate", verbosity=0)
from icv_sitemaps.services.robots import add_robots_rule, render_robots_txt  # noqa: E402


def show(label):
    rules = Protego.parse(render_robots_txt())
    names = ("Googlebot", "SemrushBot", "examplebot")
    print(f"{label}: {', '.join(f'{name} {rules.crawl_delay(name)}' for name in names)}")


add_robots_rule("*", "disallow", "/admin/")
lines = [line for line in render_robots_txt().splitlines() if line]
print(f"rules for *: {' | '.join(lines)}")
show("rules for *")
add_robots_rule("SemrushBot", "disallow", "/print/")
show("rules for * and SemrushBot")
PY
