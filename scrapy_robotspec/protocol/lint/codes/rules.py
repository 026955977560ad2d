"""RS3xx to RS9xx: rules, other lines, usage preferences, and advice.

Usage preferences: drafts aipref-attach-05 and aipref-vocab-07, contentsignals.org.
"""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.lines import Code

_GOOD = "User-agent: *\nDisallow: /private/\n"

RULES = (
    Code(
        code="RS301",
        name="no-leading-slash",
        severity="error",
        message="A path does not start with a slash.",
        why="Most crawlers never apply the rule. Google's older specification assumes the slash.",
        remedy="Write the slash. The rule then takes effect.",
        example="User-agent: *\nDisallow: private/\n",
        better=_GOOD,
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
        better=_GOOD,
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
        better=_GOOD,
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
        better=_GOOD,
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
)

OTHERS = (
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
)

_GROUP = "User-agent: *\nAllow: /\n"
_STATED = _GROUP + "Content-Usage: train-ai=n\n"

USAGE = (
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
)

ADVICE = (
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
