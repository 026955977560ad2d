#!/usr/bin/env bash
# django-robots writes a crawl delay of 0.4 s as "Crawl-delay: 0", and 2.5 s as 3 s.
#
# Version: django-robots 6.1 with Django 5.2.8 (PyPI).
# Source: the field's help text in its admin: between 0.1 and 99.0 seconds, and a column with one decimal place.
# Expected: the value that was saved, or none that asks for more speed.
# Behaviour: the template rounds to whole seconds. Below 0.5 the line is there, and asks for no delay.
# What follows: a crawler that obeys the line ignores the owner's limit; one that has a delay of its own
# for sites without such a line gives it up.
# Output:
#   0.4 saved as 0.4 -> Crawl-delay: 0
#   0.5 saved as 0.5 -> Crawl-delay: 1
#   2.5 saved as 2.5 -> Crawl-delay: 3
#   10 saved as 10.0 -> Crawl-delay: 10
source "$(dirname "$0")/common.sh"

pypi django-robots==6.1 Django==5.2.8
"$python" - <<'PY' | confirm
from decimal import Decimal

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.sites", "robots"],
    ROOT_URLCONF="robots.urls",
    SITE_ID=1,
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
)
django.setup()

from django.contrib.sites.models import Site
from django.core.management import call_command
from django.test import Client
from robots.models import Rule, Url

call_command("migrate", verbosity=0)
rule = Rule.objects.create(robot="*")
rule.sites.add(Site.objects.get_current())
rule.disallowed.add(Url.objects.create(pattern="/private/"))
for value in ("0.4", "0.5", "2.5", "10"):
    rule.crawl_delay = Decimal(value)
    rule.full_clean()
    rule.save()
    rule.refresh_from_db()
    lines = Client().get("/").content.decode().splitlines()
    line = next(each for each in lines if each.startswith("Crawl-delay"))
    print(f"{value} saved as {rule.crawl_delay} -> {line}")
PY
