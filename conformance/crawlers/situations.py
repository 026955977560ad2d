"""The situations: robots.txt responses, with the meaning of RFC 9309.

``{name}`` in a file stands for the product token of the crawler that is tried, ``{swapped}`` for it
in other letter case, ``{part}`` for it without its last letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT = "text/plain; charset=utf-8"
#: The pages that most situations link to.
OPEN, CLOSED = "/open.html", "/private/page.html"
RULES = "User-agent: *\nDisallow: /private/\n"
#: Where a redirected robots.txt ends.
TARGET = "/files/rules.txt"


OWN = "User-agent: {name}\nDisallow: /own/\n"
STAR = "User-agent: *\nDisallow: /star/\n"
FILLER = "# " + "x" * 97 + "\n"


@dataclass(frozen=True, slots=True)
class Situation:
    """A robots.txt response, links, and those that RFC 9309 allows.

    ``fault`` says in a few words what a crawler does that fetches other pages.
    """

    topic: str
    about: str
    body: str | bytes = ""
    allowed: tuple[str, ...] = (OPEN,)
    disallowed: tuple[str, ...] = (CLOSED,)
    fault: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": TEXT})
    #: Redirects before the response; the last may lead to another origin.
    hops: int = 0
    other_origin: bool = False
    #: The connection is reset instead of a response.
    reset: bool = False
    #: A page that redirects to another one, in place of a link to it.
    moved: str | None = None

    @property
    def links(self) -> tuple[str, ...]:
        """Links of the first page, in order."""
        pages = (*self.allowed, *self.disallowed)
        return tuple(page for page in pages if page not in (self.moved, "/"))

    def file(self, name: str) -> bytes:
        """The body of the response for this product token."""
        body = self.body.encode() if isinstance(self.body, str) else self.body
        spellings = {"name": name, "swapped": name.swapcase(), "part": name[:-1]}
        for key, spelling in spellings.items():
            body = body.replace(f"{{{key}}}".encode(), spelling.encode())
        return body


def _status(status: int) -> Situation:
    """A response whose body allows the one page and disallows the other."""
    pages = (OPEN, CLOSED)
    allowed, disallowed = (pages, ()) if status < 500 else ((), pages)
    return Situation(
        "status",
        f"status {status}, with rules in its body",
        RULES,
        allowed,
        disallowed,
        status=status,
    )


def _group(about: str, body: str) -> Situation:
    """A file with rules for ``/own/``, and for ``/star/`` in the group of ``*``."""
    return Situation("group", about, body, ("/star/page.html",), ("/own/page.html",))


def _name(about: str, name: str, fault: str, *, own: bool = True) -> Situation:
    """A file whose first group has the name of the crawler, or another one that resembles it."""
    body = f"User-agent: {name}\nDisallow: /own/\n\n{STAR}"
    page = ("/own/page.html",)
    return Situation("name", about, body, (OPEN,) if own else page, page if own else (), fault)


def _line(about: str, body: str | bytes, fault: str) -> Situation:
    """A file in another notation, which disallows ``/private/``."""
    return Situation("notation", about, body, fault=fault)


SITUATIONS: Mapping[str, Situation] = {
    # Files that are understood alike.
    "no-file": Situation(
        "base", "no robots.txt", "", (OPEN, CLOSED), (), "crawls nothing", status=404
    ),
    "empty-file": Situation(
        "base", "an empty file", "", (OPEN, CLOSED), (), "an empty file closes the site"
    ),
    "prefix": Situation("base", "`Disallow: /private/`", RULES, fault="ignores rules"),
    "everything": Situation(
        "base",
        "`Disallow: /`",
        "User-agent: *\nDisallow: /\n",
        (),
        (OPEN,),
        "`Disallow: /` has no effect",
    ),
    "empty-rule": Situation(
        "base",
        "`Disallow:` without a value",
        "User-agent: *\nDisallow:\n",
        (OPEN, CLOSED),
        (),
        "an empty `Disallow` closes the site",
    ),
    "first-page": Situation(
        "pages",
        "the page where the crawl starts, under `Disallow: /`",
        "User-agent: *\nDisallow: /\n",
        (),
        ("/",),
        "fetches the first page unchecked",
    ),
    "moved-page": Situation(
        "pages",
        "an allowed page that redirects to a disallowed one",
        RULES,
        ("/moved.html",),
        (CLOSED,),
        "follows redirects to disallowed pages",
        moved=CLOSED,
    ),
    # Responses for robots.txt.
    "redirect": Situation("redirect", "a redirect to a file of the same origin", RULES, hops=1),
    "redirect-origin": Situation(
        "redirect", "a redirect to a file of another origin", RULES, hops=1, other_origin=True
    ),
    "redirect-five": Situation("redirect", "five redirects to a file", RULES, hops=5),
    **{f"status-{status}": _status(status) for status in (401, 403, 404, 410, 429, 500, 503)},
    "reset": Situation(
        "pages",
        "a connection that is reset",
        "",
        (),
        (OPEN, CLOSED),
        "crawls after a reset",
        reset=True,
    ),
    "html-type": Situation(
        "notation",
        "rules as `text/html`",
        RULES,
        fault="`text/html`: no rules",
        headers={"Content-Type": "text/html"},
    ),
    "no-type": Situation(
        "notation",
        "rules without a Content-Type",
        RULES,
        fault="no Content-Type: no rules",
        headers={},
    ),
    # The group of a crawler.
    "own-above": _group("an own group above the one of `*`", f"{OWN}\n{STAR}"),
    "own-below": _group("an own group below the one of `*`", f"{STAR}\n{OWN}"),
    "own-case": _name("the name in other letter case", "{swapped}", "letter case hides the group"),
    "own-version": _name("the name with a version", "{name}/9.9", "a version hides the group"),
    "name-longer": _name(
        "the group of a longer name", "{name}x", "follows the group of a longer name", own=False
    ),
    "name-shorter": _name(
        "the group of a part of the name",
        "{part}",
        "follows the group of a part of its name",
        own=False,
    ),
    "two-names-first": _name(
        "two names, the own first", "{name}\nUser-agent: other", "of two names reads the last"
    ),
    "two-names-last": _name(
        "two names, the own last", "other\nUser-agent: {name}", "of two names reads the first"
    ),
    "two-groups": Situation(
        "name",
        "two own groups",
        "\n".join(
            (
                OWN,
                "User-agent: other\nDisallow: /other/\n",
                "User-agent: {name}\nDisallow: /more/\n",
            )
        ),
        ("/other/page.html",),
        ("/own/page.html", "/more/page.html"),
        "of two own groups reads one",
    ),
    "own-open": Situation(
        "name",
        "an own group that allows everything",
        "User-agent: *\nDisallow: /\n\nUser-agent: {name}\nDisallow:\n",
        (OPEN,),
        (),
        "`Disallow: /` for `*` beats the own group",
    ),
    # Rules.
    "allow-below": Situation(
        "allow",
        "`Allow` for a page below `Disallow` for its folder",
        f"{RULES}Allow: /private/open.html\n",
        ("/private/open.html",),
        (CLOSED,),
    ),
    "allow-above": Situation(
        "allow",
        "`Allow` for a page above `Disallow` for its folder",
        RULES.replace("Dis", "Allow: /private/open.html\nDis"),
        ("/private/open.html",),
        (CLOSED,),
    ),
    "allow-folder": Situation(
        "allow",
        "`Allow` for a folder above `Disallow` for a page",
        f"User-agent: *\nAllow: /private/\nDisallow: {CLOSED}\n",
        ("/private/open.html",),
        (CLOSED,),
    ),
    "star": Situation("wildcards", "`*` in a path", "User-agent: *\nDisallow: /*/page.html\n"),
    "anchor": Situation(
        "wildcards",
        "`$` at the end of a path",
        "User-agent: *\nDisallow: /private/page$\n",
        ("/private/page.html",),
        ("/private/page",),
    ),
    "letter-case": Situation(
        "rules",
        "a path in other letter case",
        "User-agent: *\nDisallow: /Private/\n",
        (CLOSED,),
        ("/Private/page.html",),
        "ignores the case of paths",
    ),
    "query": Situation(
        "rules",
        "a rule with a query",
        "User-agent: *\nDisallow: /list?id=\n",
        ("/list?page=2",),
        ("/list?id=2",),
        "no rules for queries",
    ),
    "escaped": Situation(
        "rules",
        "`é` as `%C3%A9` in rule and link",
        "User-agent: *\nDisallow: /caf%C3%A9\n",
        (OPEN,),
        ("/caf%C3%A9.html",),
        "no escaped rules",
    ),
    "raw": Situation(
        "rules",
        "`é` as it is in the rule, `%C3%A9` in the link",
        "User-agent: *\nDisallow: /café\n",
        (OPEN,),
        ("/caf%C3%A9.html",),
        "no unescaped `é`",
    ),
    "tilde": Situation(
        "rules",
        "`%7E` in the rule, `~` in the link",
        "User-agent: *\nDisallow: /%7Eme/\n",
        (OPEN,),
        ("/~me/page.html",),
        "`%7E` is not `~`",
    ),
    # Notation of lines.
    "no-blank": _line(
        "no blank behind the colon",
        "User-agent:*\nDisallow:/private/\n",
        "wants a blank behind the colon",
    ),
    "lower-fields": _line("fields in lower case", RULES.lower(), "wants capitals"),
    "comment": _line(
        "a comment behind each line", RULES.replace("\n", " # why\n"), "reads comments as values"
    ),
    "empty-comment": Situation(
        "notation",
        "a comment behind an empty `Disallow`",
        "User-agent: *\nDisallow: # nothing\n",
        (OPEN, CLOSED),
        (),
        "a comment behind an empty `Disallow` closes the site",
    ),
    "blank-line": _line(
        "a blank line within a group", RULES.replace("\n", "\n\n"), "a blank line ends the group"
    ),
    "other-line": _line(
        "a `Crawl-delay` line above the rules",
        RULES.replace("\nDis", "\nCrawl-delay: 0\nDis"),
        "a `Crawl-delay` ends the group",
    ),
    "sitemap": _line(
        "a `Sitemap` line between names",
        RULES.replace("User", "User-agent: other\nSitemap: http://example.com/map.xml\nUser", 1),
        "a `Sitemap` splits the group",
    ),
    "carriage-return": _line(
        "lines that end in CR", RULES.replace("\n", "\r"), "no lines that end in CR"
    ),
    "expired": Situation(
        "notation",
        "a file that has expired",
        RULES,
        fault="`Expires` in the past: no rules",
        headers={"Content-Type": TEXT, "Expires": "Mon, 05 Jan 2015 00:00:00 GMT"},
    ),
    "mark": _line(
        "a byte order mark", b"\xef\xbb\xbf" + RULES.encode(), "a byte order mark hides the group"
    ),
    "latin-1": _line(
        "a byte that is not UTF-8, in a comment",
        b"# caf\xe9\n" + RULES.encode(),
        "one byte that is not UTF-8: no rules",
    ),
    "long": _line(
        "rules behind 400 KB of comments", FILLER * 4000 + RULES, "no rules behind 400 KB"
    ),
}
