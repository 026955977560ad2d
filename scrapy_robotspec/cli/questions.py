"""Answers questions about URLs of files and of sites."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.crawlers import check_tokens, crawlers, named_crawlers
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import is_url
from scrapy_robotspec.cli.session import ALLOWED, DISALLOWED, MISUSE, UNREACHABLE, SiteOptions
from scrapy_robotspec.cli.urls import absolute
from scrapy_robotspec.protocol.usage import is_label
from scrapy_robotspec.render.explanation import explain, explain_fully, explain_site
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.usage import usage_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy_robotspec.cli.session import Crawler, Session
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.site import SiteAnswer
    from scrapy_robotspec.render.terminal import Screen


class Question(NamedTuple):
    """The question of a command line about URLs."""

    file: str | None
    urls: Sequence[str | bytes]
    tokens: Sequence[str] = ()
    each_token: bool = False
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


def answer_file(
    file: ParsedFile, question: Question, default: Crawler, screen: Screen | None = None
) -> Iterator[Explanation]:
    """The answers of one file, by crawler, then URL.

    ``screen`` shows the progress.
    """
    asked = crawlers(question.tokens, question.each_token, default, [file])
    names = file.written if question.each_token else None
    pairs = list(product(asked, question.urls))
    group = file.group_for(asked[0]) if question.fully else None
    for tokens, url in screen.progress(pairs, "answered") if screen is not None else pairs:
        if group is None:
            found = explain(file.robots, url, tokens, names=names)
            yield _with_usage(found, file.robots, url) if question.usage else found
            continue
        group = group if group.tokens == tokens else file.group_for(tokens)
        yield explain_fully(file, url, tokens, group)


def answer_sites(
    urls: Sequence[str],
    question: Question,
    session: Session,
    options: SiteOptions,
    handle: Callable[[Explanation], None],
) -> None:
    """Pass the answers of sites to ``handle``, as they come. Raises :class:`MisuseError`."""
    if session.load_query is None:
        raise MisuseError("sites cannot be queried here: give a file")
    if question.each_token and question.tokens:
        raise MisuseError("--token and --each-token exclude each other")
    if question.tokens:
        tokens = check_tokens(question.tokens, session.edition(options.edition))
        options = options._replace(tokens=tokens)
    handled = 0

    def handle_site(site: SiteAnswer) -> None:
        nonlocal handled
        for each in _for_crawlers(site) if question.each_token else [site]:
            found = explain_site(each, fully=question.fully)
            handle(_with_usage(found, each.robots, each.url) if question.usage else found)
        handled += 1
        session.screen.done(handled, len(urls), "answered")
        session.screen.out.flush()

    session.load_query()(urls, options, handle_site)
    session.screen.clear()


def _for_crawlers(site: SiteAnswer) -> Iterator[SiteAnswer]:
    """The answer for each crawler that the site's file names, and for any other."""
    decision, robots = site.decision, site.robots
    if decision is None or robots is None:
        yield site._replace(tokens=())
        return
    for tokens in named_crawlers([ParsedFile(robots)]):
        verdict = robots.explain(site.url, tokens)
        changed = decision._replace(allowed=verdict.allowed, reason=verdict.reason, verdict=verdict)
        yield site._replace(tokens=tokens, decision=changed)


def check_labels(labels: Sequence[str]) -> Sequence[str]:
    """Labels of usage, each once. Raises :class:`MisuseError` for what cannot be one."""
    for label in labels:
        if not is_label(label):
            raise MisuseError(f"{label!a} is not a label of usage: give one such as train-ai")
    return tuple(dict.fromkeys(labels))


def _with_usage(found: Explanation, robots: RobotsTxt | None, url: str | bytes) -> Explanation:
    if robots is None or not found.allowed:
        return found
    return found._replace(usage=usage_answer(robots, url, found.tokens))


def is_disallowed(found: Explanation, labels: Sequence[str] = ()) -> bool:
    """Whether the page, or one of its uses, is disallowed."""
    if not found.allowed:
        return True
    usage = found.usage
    return usage is not None and any(usage.preference(each) == "disallow" for each in labels)


def exit_code(found: Explanation, labels: Sequence[str] = ()) -> int:
    """The exit code of one answer; the greatest of several counts."""
    if found.allowed is None:
        return MISUSE
    if found.allowed:
        return DISALLOWED if is_disallowed(found, labels) else ALLOWED
    return UNREACHABLE if found.reason == "unreachable" else DISALLOWED
