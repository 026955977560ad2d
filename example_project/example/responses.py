"""What each origin of the local site answers to ``/robots.txt``, as a table.

Only answers belong here. How they are sent is ``site.py``'s business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for robots.txt, or for a stop of its redirects."""

    path: str
    number: int  #: 1 for the first request of this origin's robots.txt
    seconds: float  #: since that first request
    origins: Mapping[str, str]  #: name of a case → its origin, such as ``http://127.0.0.1:8401``


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. ``cut`` breaks the connection instead, ``short`` before the body is complete.

    ``delay`` is in seconds.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    short: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One origin: how it answers for robots.txt, and the pages its front page links to."""

    robots: Callable[[Visit], Answer]
    pages: tuple[str, ...] = ("/", "/open.html", "/private/a.html")
    usage: Mapping[str, str] = field(default_factory=dict)
    """Path of a page → the Content-Usage header of its response."""
    redirects: Mapping[str, str] = field(default_factory=dict)
    """Path of a page → where its response redirects to."""
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Path of a page → where its script goes."""


#: Where each origin lists its pages, whether its robots.txt says so or not.
SITEMAP = "/sitemap.xml"

#: Rules that every origin with rules of no interest uses.
SOME_RULES = b"User-agent: *\nDisallow: /private/\n"

PLAIN_RULES = b"""\
# The group for everybody
User-agent: *
Disallow: /private/       # a directory
Disallow: /*.pdf$         # an ending
Disallow: /*?session=     # a parameter
Allow: /private/press/    # longer than line 3, so it wins

Sitemap: http://127.0.0.1:8401/sitemap.xml
"""
PLAIN_PAGES = (
    "/",
    "/open.html",
    "/private/a.html",
    "/private/press/today.html",
    "/paper.pdf",
    "/paper.pdf.html",
    "/list?page=2",
    "/list?session=7",
)

USAGE_RULES = b"""\
User-agent: *
Disallow: /private/
Content-Usage: search=y, train-ai=n
Content-Usage: /free/ search=y, train-ai=y
Content-Usage: /notes/ search=n
"""
USAGE_PAGES = ("/", "/free/a.html", "/free/poem.html", "/notes/a.html", "/private/a.html")

#: Pages that lead a browser to a disallowed one, and how.
MOVED_PAGE, SCRIPT_PAGE, PRIVATE_PAGE = "/moved.html", "/script.html", "/private/a.html"

TOKEN_RULES = b"""\
User-agent: *
Disallow: /

User-agent: robotspec-example
Disallow: /private/

User-agent: robotspec-example-news
Disallow: /
Allow: /news/
"""
TOKEN_PAGES = ("/", "/news/today.html", "/private/a.html")


def fixed(body: bytes = b"", status: int = 200, **headers: str) -> Callable[[Visit], Answer]:
    """The same answer every time; ``retry_after="1"`` becomes ``Retry-After: 1``."""
    names = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return lambda visit: Answer(status, body, names)


def late(delay: float, body: bytes) -> Callable[[Visit], Answer]:
    """The rules, after ``delay`` seconds."""
    return lambda visit: Answer(body=body, delay=delay)


def cut(visit: Visit) -> Answer:
    """The connection breaks before the first byte of a response."""
    return Answer(cut=True)


def busy(seconds: float, body: bytes) -> Callable[[Visit], Answer]:
    """503 for ``seconds`` from the first request on, then the rules."""

    def robots(visit: Visit) -> Answer:
        return Answer(503) if visit.seconds < seconds else Answer(body=body)

    return robots


def hops(count: int, body: bytes, status: int = 200) -> Callable[[Visit], Answer]:
    """``count`` redirects on this origin, then the answer."""

    def robots(visit: Visit) -> Answer:
        done = int(visit.path.rpartition("/")[2]) if visit.path.startswith("/hop/") else 0
        if done == count:
            return Answer(status, body)
        return Answer(302, headers={"Location": f"/hop/{done + 1}"})

    return robots


def elsewhere(name: str) -> Callable[[Visit], Answer]:
    """One redirect to the robots.txt of another origin."""
    return lambda visit: Answer(301, headers={"Location": f"{visit.origins[name]}/robots.txt"})


def listed(name: str) -> Callable[[Visit], Answer]:
    """The rules, and where the sitemap of that origin is."""
    return lambda visit: Answer(
        body=SOME_RULES + f"Sitemap: {visit.origins[name]}{SITEMAP}\n".encode()
    )


def circle(visit: Visit) -> Answer:
    """A redirect to itself."""
    return Answer(302, headers={"Location": "/robots.txt"})


FORBID_ALL = b"User-agent: *\nDisallow: /\n"

#: The origins that the spiders of this project crawl.
ALL_RESPONSES: Mapping[str, Case] = {
    "plain": Case(fixed(PLAIN_RULES), PLAIN_PAGES),
    "missing": Case(fixed(FORBID_ALL, 404)),
    "locked": Case(fixed(status=403)),
    "closed": Case(fixed(FORBID_ALL)),
    "down": Case(fixed(status=503)),
    "broken": Case(cut),
    "moved": Case(elsewhere("hops")),
    "hops": Case(hops(4, SOME_RULES)),
    "maze": Case(hops(6, FORBID_ALL)),
    "circle": Case(circle),
    "tokens": Case(fixed(TOKEN_RULES), TOKEN_PAGES),
    "busy": Case(busy(3.0, SOME_RULES)),
    "listed": Case(listed("listed")),
    "usage": Case(fixed(USAGE_RULES), USAGE_PAGES, {"/free/poem.html": "train-ai=n"}),
    "browser": Case(
        fixed(SOME_RULES),
        ("/", "/open.html", MOVED_PAGE, SCRIPT_PAGE, PRIVATE_PAGE),
        redirects={MOVED_PAGE: PRIVATE_PAGE},
        scripts={SCRIPT_PAGE: PRIVATE_PAGE},
    ),
}
