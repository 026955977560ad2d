"""The environment of the templates."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from scrapy_robotspec.render.html_base import LONGEST, TEMPLATES, render, shown


def test_markup_is_escaped_and_a_missing_value_is_an_error() -> None:
    """SAF-04: a template that forgets a value shows no page without it."""
    page = TEMPLATES.from_string("{{ text }}")
    assert page.render(text="<b>&") == "&lt;b&gt;&amp;"
    with pytest.raises(UndefinedError):
        page.render()
    with pytest.raises(UndefinedError):
        render("report.html", now=0.0)


def test_texts_are_escaped_and_cut() -> None:
    assert shown("\x1b[2J") == "\\x1b[2J"
    assert shown("x" * 3000) == "x" * LONGEST + "… (3000 characters)"


def test_each_template_compiles() -> None:
    names = TEMPLATES.list_templates()
    assert {"base.html", "answers.html", "report.html"} <= set(names)
    for name in names:
        TEMPLATES.get_template(name)
