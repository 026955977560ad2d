"""RS1xx and RS2xx: lines, files, groups and the crawlers that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.models import Severity


class Code(NamedTuple):
    """One kind of finding, with its explanation for a person."""

    code: str
    name: str
    """Short name in lower case, words joined by hyphens."""
    severity: Severity
    message: str
    """The meaning of the code, one sentence."""
    why: str
    """How crawlers read such a line."""
    remedy: str
    """The remedy. Nothing in it changes a verdict that the author of the file means."""
    example: str | None = None
    """A file with the finding; None where no short text has it."""
    better: str | None = None
    """A similar file without it."""
    edition: str | None = None
    """Name of the only edition in which ``example`` has the finding; None: it has it by default."""


_GOOD = "User-agent: *\nDisallow: /private/\n"

LINES = (
    Code(
        code="RS101",
        name="no-field",
        severity="error",
        message="A line is not of the form field: value.",
        why="Crawlers ignore such a line, except Google's, which accept white space as a colon.",
        remedy="Write the colon, or begin a comment with #. The rule then takes effect.",
        example="User-agent: *\nDisallow /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS102",
        name="misspelled-field",
        severity="error",
        message="A field name is misspelled.",
        why="Most crawlers ignore the line. Google's crawlers accept some misspellings.",
        remedy="Correct the spelling. The line then takes effect.",
        example="User-agent: *\nDisalow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS103",
        name="unknown-field",
        severity="warning",
        message="The edition does not know the field.",
        why="Crawlers ignore fields that they do not know.",
        remedy="Keep the line if a crawler of yours reads it. Noindex has no effect in robots.txt: "
        "it belongs into the page or the headers of its response.",
        example="User-agent: *\nNoindex: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS104",
        name="not-utf-8",
        severity="warning",
        message="A line contains bytes that are not UTF-8.",
        why="The file is read as UTF-8. Other bytes are compared as their escapes, and browsers "
        "and crawlers mostly send the escapes of UTF-8.",
        remedy="Save the file as UTF-8, or write the path with percent-escapes.",
    ),
    Code(
        code="RS105",
        name="long-line",
        severity="error",
        message="Only a part of a line is read.",
        why="Google's parser cuts lines at 16,663 bytes.",
        remedy="Split the line, or shorten the comment.",
        edition="google",
    ),
    Code(
        code="RS106",
        name="control-character",
        severity="warning",
        message="A line contains a control character.",
        why="URLs contain control characters only as escapes, and Google's parser ends a line at a "
        "NUL.",
        remedy="Remove the character.",
        example="User-agent: *\nDisallow: /pri\x01vate/\n",
        better=_GOOD,
    ),
    Code(
        code="RS107",
        name="written-line-end",
        severity="error",
        message="Line ends are written as text.",
        why="A backslash and a letter are two ordinary characters. The whole text is one line, and "
        "the rules in it are read as a part of the first value.",
        remedy="Write each rule on a line of its own.",
        example="User-agent: *\\nDisallow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS108",
        name="encoded-byte-order-mark",
        severity="error",
        message="The file begins with a byte order mark that was encoded twice.",
        why="One byte order mark is ignored. A second one, or one that was read in another "
        "encoding and saved as text, belongs to the first line, whose field is unknown then.",
        remedy="Save the file as UTF-8 without a byte order mark.",
        example="\u00ef\u00bb\u00bfUser-agent: *\nDisallow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS151",
        name="too-long",
        severity="error",
        message="The file is longer than the parsing limit.",
        why="Crawlers need not read more than 500 KiB. Rules after the limit have no effect.",
        remedy="Remove comments, or put the most important groups first.",
    ),
    Code(
        code="RS152",
        name="html-page",
        severity="error",
        message="The file is an HTML or XML page.",
        why="Crawlers look for valid lines in it and mostly find none, so everything is allowed. "
        "The server probably answers /robots.txt with an error page or the start page.",
        remedy="Serve a robots.txt file, or status 404 if the site needs none.",
        example="<!DOCTYPE html>\n<title>Not found</title>\n",
        better=_GOOD,
    ),
    Code(
        code="RS153",
        name="utf-16",
        severity="error",
        message="The file is written in UTF-16, not in UTF-8.",
        why="The file is read as UTF-8, and no line of a UTF-16 file is valid then.",
        remedy="Save the file as UTF-8.",
    ),
    Code(
        code="RS154",
        name="binary",
        severity="error",
        message="The file contains binary data.",
        why="No line of it is valid, so everything is allowed. A file that is compressed twice, or "
        "sent without its Content-Encoding header, arrives like this.",
        remedy="Serve plain text.",
    ),
    Code(
        code="RS155",
        name="json",
        severity="error",
        message="The file contains JSON.",
        why="No line of it is valid, so everything is allowed. The server probably answers "
        "/robots.txt with an error message of its API.",
        remedy="Serve a robots.txt file, or status 404 if the site needs none.",
        example='{"error": "not found", "status": 404}\n',
        better=_GOOD,
    ),
    Code(
        code="RS156",
        name="other-text",
        severity="error",
        message="No line is one of a robots.txt file.",
        why="Crawlers ignore invalid lines, so everything is allowed.",
        remedy="Serve a robots.txt file, or status 404 if the site needs none.",
        example="Page not found\n",
        better=_GOOD,
    ),
)

GROUPS = (
    Code(
        code="RS201",
        name="outside-group",
        severity="error",
        message="A line that belongs into a group is outside of every group.",
        why="Rules, crawl delays and usage preferences hold for the crawlers named above them. "
        "Without a user-agent line they hold for no crawler.",
        remedy="Write a user-agent line above it. The line then takes effect.",
        example="Disallow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS202",
        name="no-crawler-name",
        severity="error",
        message="A user-agent line names no crawler.",
        why="A name consists of letters, hyphens and underscores. A value that begins with any "
        "other character names no crawler.",
        remedy="Write a crawler's product token, or * for every crawler without a group.",
        example="User-agent: 360Spider\nUser-agent: *\nDisallow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS203",
        name="name-cut",
        severity="warning",
        message="Only a part of a crawler's name is read.",
        why="A name ends at the first character that is not a letter, a hyphen or an underscore. "
        "Crawlers compare the rest of their name differently: the name read may be another one.",
        remedy="Write the product token that the crawler's operator documents.",
        example="User-agent: Sogou web spider\nDisallow: /private/\n",
        better="User-agent: Sogou\nDisallow: /private/\n",
    ),
    Code(
        code="RS204",
        name="no-crawler-in-group",
        severity="error",
        message="A group names no crawler.",
        why="No crawler follows its rules.",
        remedy="Write a user-agent line with a crawler's name, or with *.",
        example="User-agent: 360Spider\nDisallow: /private/\n",
        better=_GOOD,
    ),
    Code(
        code="RS205",
        name="repeated-crawler",
        severity="warning",
        message="An earlier group names the same crawler.",
        why="Most crawlers follow the rules of both groups, some only those of the first or the "
        "last.",
        remedy="Write the rules of both groups into one.",
        example="User-agent: *\nDisallow: /a/\n\nUser-agent: *\nDisallow: /b/\n",
        better="User-agent: *\nDisallow: /a/\nDisallow: /b/\n",
    ),
    Code(
        code="RS206",
        name="empty-group",
        severity="warning",
        message="A group has no rules.",
        why="Its crawlers may fetch everything: they do not follow the group of *.",
        remedy="Write the rules that are meant, or Disallow: without a path to allow everything.",
        example="User-agent: FooBot\n",
        better="User-agent: FooBot\nDisallow:\n",
    ),
    Code(
        code="RS207",
        name="star-and-names",
        severity="warning",
        message="A group names * and other crawlers.",
        why="Crawlers of the 1990s read such a group as the default group only.",
        remedy="Give the named crawlers a group of their own, with the same rules.",
        example="User-agent: FooBot\nUser-agent: *\nDisallow: /private/\n",
        better=_GOOD,
        edition="classic",
    ),
    Code(
        code="RS208",
        name="split-names",
        severity="warning",
        message="A blank or other line separates two user-agent lines of one group.",
        why="Only a rule ends the list of user-agent lines. All names above the first rule share "
        "the rules, and rules after the last name hold for every name.",
        remedy="If two groups are meant, write a rule under each name; Disallow: without a path "
        "allows everything.",
        example="User-agent: FooBot\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /private/\n",
        better="User-agent: FooBot\nUser-agent: *\nDisallow: /private/\n",
    ),
    Code(
        code="RS209",
        name="ignores-robots-txt",
        severity="warning",
        message="The crawler is known not to follow robots.txt.",
        why="Its operator documents that it fetches pages on behalf of a person and may ignore "
        "robots.txt, or it collects e-mail addresses.",
        remedy="Keep the group if you like, and block the crawler on the server.",
        example="User-agent: ChatGPT-User\nDisallow: /\n",
        better="User-agent: GPTBot\nDisallow: /\n",
    ),
    Code(
        code="RS210",
        name="misspelled-crawler",
        severity="warning",
        message="The name looks like a well-known crawler's, misspelled.",
        why="A crawler follows the group that has exactly its product token.",
        remedy="Write the product token that the crawler's operator documents. The group then "
        "takes effect for it.",
        example="User-agent: Googelbot\nDisallow: /private/\n",
        better="User-agent: Googlebot\nDisallow: /private/\n",
    ),
    Code(
        code="RS211",
        name="user-agent-header",
        severity="error",
        message="A user-agent line holds a whole User-Agent header.",
        why="A name ends before the first slash. A header that begins with Mozilla names the "
        "crawler Mozilla, which does not exist, and no crawler follows the group.",
        remedy="Write the product token that the crawler's operator documents.",
        example="User-agent: Mozilla/5.0 (compatible; examplebot/2.1)\nDisallow: /private/\n",
        better="User-agent: examplebot\nDisallow: /private/\n",
    ),
    Code(
        code="RS212",
        name="closed-by-next-group",
        severity="warning",
        message="The group of * has no rules of its own and joins the next one, which disallows "
        "everything.",
        why="User-agent lines without a rule between them form one group, also across blank lines. "
        "The Disallow: / that is meant for the next name closes the site to every crawler.",
        remedy="Write Disallow: without a path below User-agent: *, or delete that line.",
        example="User-agent: *\n\nUser-agent: examplebot\nDisallow: /\n",
        better="User-agent: *\nDisallow:\n\nUser-agent: examplebot\nDisallow: /\n",
    ),
    Code(
        code="RS213",
        name="closed-against-own-group",
        severity="error",
        message="User-agent: * joins the next group, which disallows everything, though * has a "
        "group of its own.",
        why="The groups of * are combined. The Disallow: / that is meant for the next name closes "
        "the site to every crawler, except for what the other group of * allows.",
        remedy="Delete the User-agent: * line above the group.",
        example="User-agent: *\nDisallow: /private/\n\nUser-agent: *\n\n"
        "User-agent: examplebot\nDisallow: /\n",
        better="User-agent: *\nDisallow: /private/\n\nUser-agent: examplebot\nDisallow: /\n",
    ),
)
