"""RS3xx: allow and disallow lines."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

_GOOD = "User-agent: *\nDisallow: /private/\n"

CODES = (
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
        name="blank-in-path",
        severity="warning",
        message="A path contains a blank.",
        why="A rule has one path. The blank is a part of it and equals %20; Google's crawlers "
        "compare it as it is written, and no URL contains it so.",
        remedy="If two paths are meant, write two lines. If a blank is meant, write %20.",
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
)
