"""The environment of the HTML templates: escaping, date and version."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.reasons import SERVERS_READ
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import count, duration, escaped

#: Max length of a text from outside on a page (characters).
LONGEST = 2000


def marked_up(text: str) -> Markup:
    """``text`` escaped; unprintable characters become visible escapes."""
    cut = len(text) > LONGEST
    part = text[:LONGEST]
    safe = escape(part) if part.isprintable() else Markup("").join(map(_character, part))
    if cut:
        safe += Markup('<span class="escape">… {} characters</span>').format(f"{len(text):,}")
    return safe


def _character(character: str) -> Markup:
    if character.isprintable():
        return escape(character)
    return Markup('<span class="escape">{}</span>').format(escaped(character))


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates, with autoescape."""
    made = Environment(
        loader=PackageLoader("scrapy_robotspec.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(shown=marked_up, count=count, duration=duration)
    made.globals["servers_read"] = SERVERS_READ
    return made


def render(template: str, *, now: float, **values: Any) -> str:
    """A page made of a template.

    ``now``: the date shown on the page (epoch seconds).
    """
    return environment().get_template(template).render(**values, made=utc(now), version=__version__)
