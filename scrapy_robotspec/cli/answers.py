"""Answers a question about URLs by files or by sites."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.inputs import is_url, load_query
from scrapy_robotspec.cli.options import CrawlerOptions, check_tokens, find_crawlers
from scrapy_robotspec.cli.urls import absolute
from scrapy_robotspec.render.explanation import explain, explain_fully, explain_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy_robotspec.cli.options import Question
    from scrapy_robotspec.cli.session import Session, SiteOptions, Visit
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.site import SiteAnswer

    Handle = Callable[[Explanation], None]


def asked_sites(question: Question) -> list[str] | None:
    """The URLs to decide by their own sites, else None.

    The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
    Raises :class:`MisuseError` for a path that belongs to no site.
    """
    if question.file is None:
        return absolute(question.urls, None)
    if not is_url(question.file):
        return None
    if question.file.partition("://")[2].partition("/")[2] != "robots.txt":
        return absolute([question.file, *question.urls], None)
    asked = absolute(question.urls, question.file)
    return asked if _same_site(question.file, asked) else None


def _same_site(file: str, urls: Sequence[str]) -> bool:
    from scrapy_robotspec.access.origin import Origin

    return bool(urls) and all(Origin.of(url) == Origin.of(file) for url in urls)


def answer_file(robots: RobotsTxt, question: Question, session: Session, handle: Handle) -> int:
    """Pass the answers of one file to ``handle``, by crawler, then URL.

    Returns the number of crawlers left out. Raises :class:`MisuseError` for a wrong token.
    """
    from scrapy_robotspec.render.parsed_file import ParsedFile

    options, default = question.crawlers, session.default_tokens
    file = ParsedFile(robots) if question.fully or options.each else None
    if file is not None:
        crawlers, left_out = find_crawlers(options, [file], default, session.screen)
    else:
        crawlers, left_out = [options.crawler(robots.edition, default) or ()], 0
    names = file.written if file is not None else None
    pairs = list(product(crawlers, question.urls))
    group = None
    for tokens, url in session.screen.progress(pairs, "answered"):
        if file is not None and question.fully:
            if group is None or group.tokens != tokens:
                group = file.group_for(tokens)
            handle(explain_fully(file, url, tokens, group))
            continue
        found = explain(robots, url, tokens, names=names)
        states_usage = question.usage and (file is None or file.states_usage)
        handle(_with_usage(found, robots, url) if states_usage else found)
    return left_out


def answer_sites(
    urls: Sequence[str],
    question: Question,
    session: Session,
    options: SiteOptions,
    handle: Handle,
    visit: Visit | None = None,
) -> None:
    """Pass the answers of sites to ``handle``, as they come; then ``visit`` sites.

    Raises :class:`MisuseError`.
    """
    query = load_query(session)
    question.crawlers.check()
    if question.crawlers.tokens:
        tokens = check_tokens(question.crawlers.tokens, session.edition(options.edition))
        options = options._replace(tokens=tokens)
    handled = 0

    def handle_site(site: SiteAnswer) -> None:
        nonlocal handled
        for each in _for_crawlers(site, session) if question.crawlers.each else [site]:
            found = explain_site(each, fully=question.fully)
            handle(_with_usage(found, each.robots, each.url) if question.usage else found)
        handled += 1
        session.screen.share(handled, len(urls), "answered")
        session.screen.out.flush()

    query(urls, options, handle_site, visit)
    session.screen.clear()


def _for_crawlers(site: SiteAnswer, session: Session) -> Iterator[SiteAnswer]:
    """The answer for each crawler that the site's file names, and for any other."""
    from scrapy_robotspec.render.parsed_file import ParsedFile

    decision, robots = site.decision, site.robots
    if decision is None or robots is None:
        yield site._replace(tokens=())
        return
    each = CrawlerOptions(each=True)
    for tokens in find_crawlers(each, [ParsedFile(robots)], None, session.screen)[0]:
        verdict = robots.explain_served(site.url, tokens)
        changed = decision._replace(allowed=verdict.allowed, reason=verdict.reason, verdict=verdict)
        yield site._replace(tokens=tokens, decision=changed)


def _with_usage(found: Explanation, robots: RobotsTxt | None, url: str | bytes) -> Explanation:
    if robots is None or not found.allowed:
        return found
    from scrapy_robotspec.render.usage import usage_answer

    return found._replace(usage=usage_answer(robots, url, found.tokens))
