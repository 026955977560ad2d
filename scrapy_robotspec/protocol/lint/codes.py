"""The codes of the linter, with severity, reason, remedy and example.

Codes are stable: a code keeps its meaning, and a retired code is not used again. RS1xx are about
lines and files, RS2xx about groups, RS3xx about rules, RS4xx about other lines, RS5xx about usage
preferences; RS9xx are advice.

Usage preferences: drafts aipref-attach-05 and aipref-vocab-07, contentsignals.org.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.protocol.models import Severity


_GOOD = "User-agent: *\nDisallow: /private/\n"


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
    better: str = _GOOD
    """A similar file without it."""
    edition: str | None = None
    """Name of the only edition in which ``example`` has the finding; None: it has it by default."""


_GROUP = "User-agent: *\nAllow: /\n"
_STATED = _GROUP + "Content-Usage: train-ai=n\n"

_ALL = (
    Code(
        code="RS101",
        name="no-field",
        severity="error",
        message="A line is not of the form field: value.",
        why="Crawlers ignore such a line, except Google's, which accept white space as a colon.",
        remedy="Write the colon, or begin a comment with #. The rule then takes effect.",
        example="User-agent: *\nDisallow /private/\n",
    ),
    Code(
        code="RS102",
        name="misspelled-field",
        severity="warning",
        message="A field name is misspelled.",
        why="Most crawlers ignore the line. Google's crawlers accept some misspellings.",
        remedy="Correct the spelling. The line then takes effect.",
        example="User-agent: *\nDisalow: /private/\n",
    ),
    Code(
        code="RS103",
        name="unknown-field",
        severity="advice",
        message="The edition does not know the field.",
        why="Crawlers ignore fields that they do not know.",
        remedy="Keep the line if a crawler of yours reads it. Noindex has no effect in robots.txt: "
        "it belongs into the page or the headers of its response.",
        example="User-agent: *\nNoindex: /private/\n",
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
    ),
    Code(
        code="RS109",
        name="odd-character",
        severity="error",
        message="A character that is invisible, or that looks like another, stands in a line.",
        why="Text that is copied from a page or a word processor has no-break spaces, zero-width "
        "characters, curly quotes, dashes and full-width signs. A field, a colon or a name that "
        "contains one is not the one that crawlers look for.",
        remedy="Delete the character whose code point the finding names, and type the ASCII one.",
        example="User-agent: *\nDisallow： /private/\n",
    ),
    Code(
        code="RS110",
        name="foreign-line",
        severity="warning",
        message="A line is a comment, a fence or a tag of another language.",
        why="Only # begins a comment. Crawlers ignore the line, except for a rule in it that "
        "begins a line.",
        remedy="Delete the line, or begin the comment with #. A robots meta tag belongs into the "
        "pages.",
        example="// for every crawler\nUser-agent: *\nDisallow: /private/\n",
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
    ),
    Code(
        code="RS156",
        name="other-text",
        severity="error",
        message="No line is one of a robots.txt file.",
        why="Crawlers ignore invalid lines, so everything is allowed.",
        remedy="Serve a robots.txt file, or status 404 if the site needs none.",
        example="Page not found\n",
    ),
    Code(
        code="RS201",
        name="outside-group",
        severity="error",
        message="A line that belongs into a group is outside of every group.",
        why="Rules, crawl delays and usage preferences hold for the crawlers named above them. "
        "Without a user-agent line they hold for no crawler.",
        remedy="Write a user-agent line above it. The line then takes effect.",
        example="Disallow: /private/\n",
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
    Code(
        code="RS214",
        name="star-in-name",
        severity="warning",
        message="A crawler's name contains a star.",
        why="A star is a name of its own, for every crawler without a group. In a name it is not a "
        "wildcard: Google* names Google, not Googlebot.",
        remedy="Write a user-agent line with the product token of each crawler.",
        example="User-agent: Google*\nDisallow: /private/\n",
        better="User-agent: Googlebot\nDisallow: /private/\n",
    ),
    Code(
        code="RS215",
        name="opened-by-own-group",
        severity="warning",
        message="A crawler's own group allows what the group of * disallows.",
        why="A crawler follows one group. With one of its own, it does not follow the rules of *.",
        remedy="Repeat the rules that are meant for it, too, in its group; or leave the group as "
        "it is, if it may fetch more.",
        example="User-agent: *\nDisallow: /admin/\n\nUser-agent: Googlebot\nDisallow: /search\n",
        better="User-agent: *\nDisallow: /admin/\n\nUser-agent: Googlebot\nDisallow: /admin/\n",
    ),
    Code(
        code="RS216",
        name="closed",
        severity="advice",
        message="Every page is disallowed for crawlers without a group of their own.",
        why="Search engines among them do not fetch the pages. It is right for a site in "
        "development, and a mistake when such a file is copied to the public one.",
        remedy="Leave it if it is meant. lint --expect open makes it an error, --expect closed "
        "makes it one if it is missing.",
        example="User-agent: *\nDisallow: /\n",
    ),
    Code(
        code="RS217",
        name="not-closed",
        severity="error",
        message="A page may be fetched, though the site is expected to be closed.",
        why="Only lint --expect closed reports it, if the group of * does not disallow every page.",
        remedy="Write a group for * with Disallow: / as its only rule.",
    ),
    Code(
        code="RS301",
        name="no-leading-slash",
        severity="error",
        message="A path does not start with a slash.",
        why="Most crawlers never apply the rule. Google's older specification assumes the slash.",
        remedy="Write the slash. The rule then takes effect.",
        example="User-agent: *\nDisallow: private/\n",
    ),
    Code(
        code="RS302",
        name="inner-dollar",
        severity="warning",
        message="A dollar sign is not the last character of a path.",
        why="Only a dollar sign at the end of a path stands for the end of the URL. Elsewhere it "
        "is an ordinary character.",
        remedy="If two rules are meant, write two lines.",
        example="User-agent: *\nDisallow: /*.pdf$ /*.doc$\n",
        better="User-agent: *\nDisallow: /*.pdf$\nDisallow: /*.doc$\n",
    ),
    Code(
        code="RS303",
        name="duplicate-rule",
        severity="warning",
        message="An earlier line holds the same rule for the same crawlers.",
        why="The second line changes nothing. Reported only where every edition gives the same "
        "verdicts without it.",
        remedy="Delete the line.",
        example="User-agent: *\nDisallow: /private/\nDisallow: /private/\n",
    ),
    Code(
        code="RS304",
        name="contrary-rules",
        severity="warning",
        message="A path is both allowed and disallowed.",
        why="The allow rule decides between rules with the same path. Older crawlers follow the "
        "first one.",
        remedy="Keep the rule that is meant.",
        example="User-agent: *\nDisallow: /a/\nDisallow: /b/\nAllow: /a/\n",
        better="User-agent: *\nDisallow: /b/\n",
    ),
    Code(
        code="RS305",
        name="trailing-star",
        severity="advice",
        message="A path ends with a star.",
        why="A path matches everything that begins with it, with or without the star. Some "
        "crawlers count the star when they look for the longest path, and crawlers without "
        "wildcards take it for a character of the path.",
        remedy="Leave old rules alone: removing a star can change which of two rules is the "
        "longer one. Write new rules without it.",
        example="User-agent: *\nDisallow: /private/*\n",
    ),
    Code(
        code="RS306",
        name="no-wildcards",
        severity="error",
        message="A star or dollar sign is an ordinary character in this edition.",
        why="Crawlers of the 1990s know no wildcards.",
        remedy="Exclude directories by their beginning, without wildcards.",
        example="User-agent: *\nDisallow: /*.pdf$\n",
        better="User-agent: *\nDisallow: /pdf/\n",
        edition="classic",
    ),
    Code(
        code="RS307",
        name="empty-rule",
        severity="warning",
        message="A rule without a path changes nothing in its group.",
        why="Alone in a group, Disallow: without a path allows everything. Beside other rules it "
        "has no effect. Reported only where every edition gives the same verdicts without it.",
        remedy="Delete the line.",
        example="User-agent: *\nDisallow:\nDisallow: /private/\n",
    ),
    Code(
        code="RS308",
        name="broken-escape",
        severity="warning",
        message="A percent sign starts no escape.",
        why="An escape is a percent sign with two hexadecimal digits. Anything else is compared as "
        "it is written, and crawlers mostly send a percent sign as %25.",
        remedy="Write %25 if a percent sign is meant.",
        example="User-agent: *\nDisallow: /100%/\n",
        better="User-agent: *\nDisallow: /100%25/\n",
    ),
    Code(
        code="RS309",
        name="space-in-path",
        severity="warning",
        message="A path contains a space.",
        why="A rule has one path. The space is a part of it and equals %20; Google's crawlers "
        "compare it as it is written, and no URL contains it so.",
        remedy="If two paths are meant, write two lines. If a space is meant, write %20.",
        example="User-agent: *\nDisallow: /a/ /b/\n",
        better="User-agent: *\nDisallow: /a/\nDisallow: /b/\n",
    ),
    Code(
        code="RS310",
        name="star-path",
        severity="warning",
        message="A rule has a star instead of a path.",
        why="A path starts with a slash. Crawlers with wildcards read the star as everything, "
        "others ignore the rule.",
        remedy="If everything is meant, write Disallow: / (or Allow: /). Check other rules of the "
        "group: the slash is a longer path than the star.",
        example="User-agent: *\nDisallow: *\n",
        better="User-agent: *\nDisallow: /\n",
    ),
    Code(
        code="RS311",
        name="not-a-path",
        severity="error",
        message="The value of a rule is a word, a URL or a quoted text, not a path.",
        why="A path starts with a slash. No URL matches the rule.",
        remedy="Write the path only, without host and quotation marks. To allow everything, write "
        "Disallow: without a value; to disallow everything, Disallow: /.",
        example="User-agent: *\nDisallow: none\n",
        better="User-agent: *\nDisallow:\n",
    ),
    Code(
        code="RS312",
        name="raw-character",
        severity="advice",
        message="A path contains a character that URLs contain only escaped.",
        why='Clients send each of " < > [ \\ ] ^ ` { | } as its escape, so rule and URL are '
        "compared in the escaped form. Google's crawlers do not escape the rule.",
        remedy="Write the escape (%5B for [, %7C for |). For Google's crawlers the rule then takes "
        "effect.",
        example="User-agent: *\nDisallow: /*?filter[\n",
        better="User-agent: *\nDisallow: /*?filter%5B\n",
    ),
    Code(
        code="RS313",
        name="dead-rule",
        severity="warning",
        message="No URL can match the rule, because of a character that URLs contain only escaped.",
        why='Clients send each of " < > [ \\ ] ^ ` { | } as its escape. This edition compares the '
        "rule as it is written.",
        remedy="Write the escape (%5B for [, %7C for |). The rule then takes effect.",
        example="User-agent: *\nDisallow: /*?filter[\n",
        better="User-agent: *\nDisallow: /*?filter%5B\n",
        edition="google",
    ),
    Code(
        code="RS314",
        name="invisible-character",
        severity="error",
        message="A path ends with an invisible character.",
        why="Zero-width and no-break spaces come with text that is copied from a page. They belong "
        "to the path, so the rule matches only URLs that contain them.",
        remedy="Delete the end of the line, and write it again.",
        example="User-agent: *\nDisallow: /private/\u200b\n",
        better="User-agent: *\nDisallow: /private/\n",
    ),
    Code(
        code="RS315",
        name="hash-in-path",
        severity="error",
        message="A path contains a #, which begins a comment.",
        why="Crawlers read the path up to the #. Fragments of URLs are not sent to servers, so "
        "that no rule can concern them. If nothing but the slash is left, the rule is about every "
        "page.",
        remedy="Delete the rule, or write %23 for a # in a file name.",
        example="User-agent: *\nDisallow: /terms#privacy\n",
    ),
    Code(
        code="RS316",
        name="html-entity",
        severity="warning",
        message="A path contains an entity of HTML.",
        why="robots.txt knows no entities. URLs contain & and not &amp;, so that the rule matches "
        "nothing.",
        remedy="Write the character itself.",
        example="User-agent: *\nDisallow: /list?a=1&amp;b=2\n",
        better="User-agent: *\nDisallow: /list?a=1&b=2\n",
    ),
    Code(
        code="RS317",
        name="regular-expression",
        severity="warning",
        message="A path looks like a regular expression.",
        why="A path is compared from its beginning. Only * (any text) and a final $ (the end) are "
        "special; other characters stand for themselves.",
        remedy="Write a path with * and $: /*.pdf$ for URLs that end in .pdf.",
        example="User-agent: *\nDisallow: /.*\\.pdf$\n",
        better="User-agent: *\nDisallow: /*.pdf$\n",
    ),
    Code(
        code="RS318",
        name="dot-segment",
        severity="warning",
        message="A path contains a dot segment.",
        why="Browsers and crawlers resolve /./ and /../ before they send a URL, so that the rule "
        "matches nothing they send.",
        remedy="Write the path that the dots lead to.",
        example="User-agent: *\nDisallow: /a/../private/\n",
    ),
    Code(
        code="RS319",
        name="nothing-closed",
        severity="warning",
        message="A group allows some paths and disallows none.",
        why="Everything is allowed without a rule. An allow rule is an exception from a disallow "
        "rule, and closes nothing else.",
        remedy="If nothing else may be fetched, add Disallow: /. Otherwise, write Disallow: "
        "without a path.",
        example="User-agent: *\nAllow: /public/\n",
        better="User-agent: *\nDisallow: /\nAllow: /public/\n",
    ),
    Code(
        code="RS401",
        name="sitemap-url",
        severity="error",
        message="The URL of a sitemap is not absolute, or is broken.",
        why="A sitemap line holds one absolute URL, with scheme and host.",
        remedy="Write the whole URL; write a line for each sitemap.",
        example="Sitemap: /sitemap.xml\n",
        better="Sitemap: https://example.com/sitemap.xml\n",
    ),
    Code(
        code="RS402",
        name="crawl-delay-value",
        severity="error",
        message="A crawl-delay is not a number of seconds.",
        why="Crawlers ignore any other value.",
        remedy="Write a decimal number, without a unit.",
        example="User-agent: *\nCrawl-delay: 5s\nDisallow: /private/\n",
        better="User-agent: *\nCrawl-delay: 5\nDisallow: /private/\n",
    ),
    Code(
        code="RS403",
        name="long-crawl-delay",
        severity="warning",
        message="A crawl-delay is longer than crawlers accept.",
        why="Bing documents 1 to 30 seconds, Majestic at most 30, Semrush at most 10. Crawlers "
        "shorten or ignore longer delays, and Google's ignore every crawl-delay. At 60 seconds, a "
        "crawler that obeys fetches 1,440 pages a day.",
        remedy="Write 30 or less. To keep a crawler out, disallow everything for it.",
        example="User-agent: *\nCrawl-delay: 600\nDisallow: /private/\n",
        better="User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n",
    ),
    Code(
        code="RS404",
        name="license-url",
        severity="error",
        message="The URL of a license is not absolute, or is broken.",
        why="A license line (RSL 1.0) holds one absolute URL, with scheme and host.",
        remedy="Write the whole URL.",
        example="License: /license.xml\n",
        better="License: https://example.com/license.xml\n",
    ),
    Code(
        code="RS405",
        name="sitemap-disallowed",
        severity="warning",
        message="A sitemap is disallowed.",
        why="Crawlers that follow the group of * may not fetch it, unless they exempt sitemaps.",
        remedy="Allow its path.",
        example="User-agent: *\nDisallow: /sitemap\nSitemap: https://example.com/sitemap.xml\n",
        better="User-agent: *\nDisallow: /search\nSitemap: https://example.com/sitemap.xml\n",
    ),
    Code(
        code="RS406",
        name="repeated-crawl-delay",
        severity="warning",
        message="A crawler has two crawl delays.",
        why="The specifications do not say which of them counts. Here the greater does; other "
        "crawlers take the first or the last.",
        remedy="Keep the one that is meant.",
        example="User-agent: *\nCrawl-delay: 5\nCrawl-delay: 10\nDisallow: /private/\n",
        better="User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n",
    ),
    Code(
        code="RS501",
        name="usage-syntax",
        severity="error",
        message="A usage statement cannot be read.",
        why="Preferences are a list such as train-ai=n, search=y. A statement with a syntax error "
        "states nothing.",
        remedy="Separate preferences by commas, and write = between label and value.",
        example=_GROUP + "Content-Usage: train-ai=n; search=y;\n",
        better=_GROUP + "Content-Usage: train-ai=n, search=y\n",
    ),
    Code(
        code="RS502",
        name="usage-capitals",
        severity="error",
        message="A label of a usage statement contains capitals.",
        why="Labels are written in lower case. With a capital in a label, the whole statement "
        "states nothing.",
        remedy="Write the label in lower case.",
        example=_GROUP + "Content-Usage: Train-AI=n\n",
        better=_STATED,
    ),
    Code(
        code="RS503",
        name="usage-value",
        severity="error",
        message="The value of a usage preference is unknown.",
        why="Content-Usage knows y and n, Content-Signal yes and no. With another value the "
        "preference is unknown, neither allowed nor disallowed.",
        remedy="Write y or n (Content-Signal: yes or no).",
        example=_GROUP + "Content-Usage: train-ai=no\n",
        better=_STATED,
    ),
    Code(
        code="RS504",
        name="usage-path",
        severity="error",
        message="The path of a usage statement does not start with a slash.",
        why="Without the slash the path is read as a preference, and the statement states nothing.",
        remedy="Write the slash.",
        example=_GROUP + "Content-Usage: images/ train-ai=n\n",
        better=_GROUP + "Content-Usage: /images/ train-ai=n\n",
    ),
    Code(
        code="RS505",
        name="usage-hidden",
        severity="warning",
        message="A statement with a longer path hides preferences of a shorter one.",
        why="For each URL only the statements with the longest matching path count. Preferences of "
        "shorter paths are not inherited.",
        remedy="If the hidden preferences are meant there too, repeat them in this line.",
        example=_STATED + "Content-Usage: /blog/ search=y\n",
        better=_STATED + "Content-Usage: /blog/ search=y, train-ai=n\n",
    ),
    Code(
        code="RS506",
        name="usage-disallowed",
        severity="warning",
        message="A usage statement is about pages that are disallowed.",
        why="A page that may not be fetched has no usage preference. A crawler that got the page "
        "by other means finds no statement about its use.",
        remedy="If crawlers may fetch the pages, allow the path. Otherwise the line has no effect.",
        example="User-agent: *\nDisallow: /private/\nContent-Usage: /private/ train-ai=n\n",
        better="User-agent: *\nDisallow: /private/\nContent-Usage: /public/ train-ai=n\n",
    ),
    Code(
        code="RS507",
        name="usage-label",
        severity="warning",
        message="A label of a usage statement is from an older draft or another vocabulary.",
        why="Crawlers look for the labels train-ai and search (Content-Signal: ai-train, ai-input "
        "and search). A label that is not asked for has no effect.",
        remedy="Write the present label if it says what is meant.",
        example=_GROUP + "Content-Usage: train-genai=n\n",
        better=_STATED,
    ),
    Code(
        code="RS508",
        name="policy-token",
        severity="advice",
        message="A group states a usage preference, and nothing about crawling.",
        why="Its name is a policy token (draft-kelley-aipref-training-preference-signal-00), not a "
        "crawler's. What the group disallows may be fetched, and is not for the use that the token "
        "names. Crawlers that do not know the token ignore the group.",
        remedy="Nothing, if it is meant. To keep pages from being fetched, write a group for the "
        "crawlers.",
        example="User-agent: __usage_ai-training\nDisallow: /blog/\n",
    ),
    Code(
        code="RS901",
        name="open-directory",
        severity="advice",
        message="A path of a directory has no slash at its end.",
        why="A path matches everything that begins with it: /blog also matches /blog.html and "
        "/blogger/. Reported only where another rule names a path inside the directory.",
        remedy="Leave the line as it is if such paths are meant too. A slash at the end narrows "
        "the rule to the directory: neither /blog nor /blog.html matches then.",
        example="User-agent: *\nDisallow: /blog\nAllow: /blog/public/\n",
        better="User-agent: *\nDisallow: /blog/\nAllow: /blog/public/\n",
    ),
    Code(
        code="RS902",
        name="needless-allow",
        severity="advice",
        message="A file allows a path but disallows none.",
        why="An allow rule is an exception from a disallow rule. Without any, everything is "
        "allowed anyway, and older crawlers do not know Allow.",
        remedy="Write Disallow: without a path instead.",
        example="User-agent: *\nAllow: /\n",
        better="User-agent: *\nDisallow:\n",
    ),
    Code(
        code="RS903",
        name="tight-colon",
        severity="advice",
        message="No space follows the colon.",
        why="No crawler needs the space. The specifications recommend it for people who read the "
        "file.",
        remedy="Write a space after the colon.",
        example="User-agent: *\nDisallow:/private/\n",
        better="User-agent: *\nDisallow: /private/\n",
    ),
    Code(
        code="RS904",
        name="many-rules",
        severity="advice",
        message="The file is too long for a rule for each page.",
        why="Rules after the parsing limit have no effect.",
        remedy="Move pages that are to be excluded into directories of their own, then exclude the "
        "directories.",
    ),
)

#: Every code of the linter, in order.
CODES: Mapping[str, Code] = {code.code: code for code in _ALL}


def find_code(text: str) -> Code | None:
    """The code with this code or short name, or None."""
    wanted = text.strip().lower()
    return next((code for code in CODES.values() if wanted in (code.code.lower(), code.name)), None)
