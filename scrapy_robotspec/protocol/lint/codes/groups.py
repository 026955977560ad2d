"""RS2xx: groups and the crawlers that they name."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

_GOOD = "User-agent: *\nDisallow: /private/\n"

CODES = (
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
)
