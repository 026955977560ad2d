"""Question: the URLs, crawlers and uses that a command line asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.crawlers import CrawlerOptions
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import is_url
from scrapy_robotspec.cli.urls import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence


class Question(NamedTuple):
    """The question of a command line about URLs."""

    file: str | None
    urls: Sequence[str | bytes]
    crawlers: CrawlerOptions = CrawlerOptions()
    fully: bool = False
    """Whether losing rules and groups are wanted, too."""
    usage: Sequence[str] = ()
    """Labels of usage to answer for, too."""

    def site_urls(self) -> list[str] | None:
        """The URLs to decide by their own sites, else None.

        The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
        Raises :class:`MisuseError` for a path that belongs to no site.
        """
        if self.file is None:
            return absolute(self.urls, None)
        if not is_url(self.file):
            return None
        if not is_robots_txt(self.file):
            return absolute([self.file, *self.urls], None)
        asked = absolute(self.urls, self.file)
        return asked if _same_site(self.file, asked) else None


def is_robots_txt(url: str) -> bool:
    """Whether a URL is that of a robots.txt."""
    return url.partition("://")[2].partition("/")[2] == "robots.txt"


def _same_site(file: str, urls: Sequence[str]) -> bool:
    from scrapy_robotspec.access.origin import Origin

    return bool(urls) and all(Origin.of(url) == Origin.of(file) for url in urls)


def check_labels(labels: Sequence[str]) -> Sequence[str]:
    """Labels of usage, each once. Raises :class:`MisuseError` for what cannot be one."""
    if not labels:
        return ()
    from scrapy_robotspec.protocol.usage import is_label

    for label in labels:
        if not is_label(label):
            raise MisuseError(f"{label!a} is not a label of usage: give one such as train-ai")
    return tuple(dict.fromkeys(labels))
