"""Answers a question about URLs by files or by sites."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.crawlers import check_tokens, find_crawlers, named_crawlers
from scrapy_robotspec.cli.inputs import load_query
from scrapy_robotspec.cli.session import ALLOWED, DISALLOWED, MISUSE, UNREACHABLE
from scrapy_robotspec.render.explanation import explain, explain_fully, explain_site
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.usage import usage_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy_robotspec.cli.question import Question
    from scrapy_robotspec.cli.session import Crawler, Session, SiteOptions
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.site import SiteAnswer
    from scrapy_robotspec.render.terminal import Screen


def answer_file(
    file: ParsedFile, question: Question, default: Crawler, screen: Screen | None = None
) -> Iterator[Explanation]:
    """The answers of one file, by crawler, then URL.

    ``screen`` shows the progress.
    """
    asked = find_crawlers(question.crawlers, [file], default)
    names = file.written if question.crawlers.each else None
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
    query = load_query(session)
    question.crawlers.check()
    if question.crawlers.tokens:
        tokens = check_tokens(question.crawlers.tokens, session.edition(options.edition))
        options = options._replace(tokens=tokens)
    handled = 0

    def handle_site(site: SiteAnswer) -> None:
        nonlocal handled
        for each in _for_crawlers(site) if question.crawlers.each else [site]:
            found = explain_site(each, fully=question.fully)
            handle(_with_usage(found, each.robots, each.url) if question.usage else found)
        handled += 1
        session.screen.done(handled, len(urls), "answered")
        session.screen.out.flush()

    query(urls, options, handle_site)
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
