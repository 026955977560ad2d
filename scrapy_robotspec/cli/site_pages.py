"""Pages of answers, of a file or of one site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.render.parsed_file import ParsedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.outputs import Page
    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.render.explanation import Explanation


def check_one_origin(urls: Sequence[str]) -> None:
    """Raise :class:`MisuseError` unless one robots.txt governs all URLs."""
    from scrapy_robotspec.access.origin import Origin

    if len({Origin.of(url) for url in urls}) > 1:
        raise MisuseError("--html is for URLs of one site, as the page shows one robots.txt")


def write_answers(
    page: Page,
    session: Session,
    name: str,
    file: ParsedFile | None,
    found: Sequence[Explanation],
) -> None:
    """Write a page of answers.

    Without ``file`` it shows the file of the site of the first answer.
    """
    from scrapy_robotspec.render import as_html

    site = found[0].site if found else None
    if site is not None:
        file = ParsedFile(site.robots) if site.robots is not None else None
        name = site.origin.robots_url if site.origin is not None else site.url
    page.write(as_html.answers_page(name, file, found, now=session.now), session.screen)
