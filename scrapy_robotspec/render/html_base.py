"""The environment of the HTML templates: escaping, date and version."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.reasons import SERVERS_READ
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import count, duration, safe

#: Max length of a text from outside on a page (characters).
LONGEST = 2000


def shown(text: str) -> str:
    """``text`` with unprintable characters escaped; the templates escape its markup."""
    return safe(text, LONGEST)


#: The templates.
TEMPLATES = Environment(
    loader=PackageLoader("scrapy_robotspec.render"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters.update(shown=shown, count=count, duration=duration)
TEMPLATES.globals["servers_read"] = SERVERS_READ


def render(template: str, *, now: float, **values: Any) -> str:
    """A page made of a template.

    ``now``: the date shown on the page (epoch seconds).
    """
    return TEMPLATES.get_template(template).render(**values, made=utc(now), version=__version__)
