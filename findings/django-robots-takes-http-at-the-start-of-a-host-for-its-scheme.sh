#!/usr/bin/env bash
# django-robots writes "Sitemap: httpbin.example/sitemap.xml" for the site httpbin.example.
#
# Version: django-robots 6.1 with Django 5.2.8 (PyPI), the line read by Scrapy 2.19.0.
# Source: its documentation: the sitemap's URL is added by itself, from the site's domain; sitemaps.org: the line has
# the complete URL.
# Expected: scheme and host, for each host.
# Behaviour: a domain that begins with "http" is taken for one with its scheme.
# What follows: no reader finds the sitemap. Scrapy makes a path of the line, and requests that.
# Output:
#   example.com -> Sitemap: https://example.com/sitemap.xml
#     Scrapy requests https://example.com/sitemap.xml
#   httpbin.example -> Sitemap: httpbin.example/sitemap.xml
#     Scrapy requests https://httpbin.example/httpbin.example/sitemap.xml
#   http2.example -> Sitemap: http2.example/sitemap.xml
#     Scrapy requests https://http2.example/http2.example/sitemap.xml
source "$(dirname "$0")/common.sh"

pypi django-robots==6.1 Django==5.2.8 scrapy==2.19.0
"$python" - <<'PY' | confirm
import django
from django.conf import settings
from django.urls import include, path

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.sites", "django.contrib.sitemaps", "robots"],
    ROOT_URLCONF=__name__,
    SITE_ID=1,
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
)
django.setup()

from django.contrib.sitemaps.views import sitemap
from django.contrib.sites.models import Site
from django.core.management import call_command
from django.test import Client
from scrapy.utils.sitemap import sitemap_urls_from_robots

urlpatterns = [
    path("robots.txt", include("robots.urls")),
    path("sitemap.xml", sitemap, {"sitemaps": {}}),
]
call_command("migrate", verbosity=0)
for domain in ("example.com", "httpbin.example", "http2.example"):
    site = Site.objects.get_current()
    site.domain = domain
    site.save()
    text = Client().get("/robots.txt", secure=True, headers={"host": domain}).content
    line = next(each for each in text.splitlines() if each.startswith(b"Sitemap"))
    print(f"{domain} -> {line.decode()}")
    for url in sitemap_urls_from_robots(text, f"https://{domain}/robots.txt"):
        print(f"  Scrapy requests {url}")
PY
