"""RS5xx: usage preferences (drafts aipref-attach-05 and aipref-vocab-07, contentsignals.org)."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

_GROUP = "User-agent: *\nAllow: /\n"
_GOOD = _GROUP + "Content-Usage: train-ai=n\n"

CODES = (
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
        why="Labels are written in small letters. With a capital in a label, the whole statement "
        "states nothing.",
        remedy="Write the label in small letters.",
        example=_GROUP + "Content-Usage: Train-AI=n\n",
        better=_GOOD,
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
        better=_GOOD,
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
        example=_GOOD + "Content-Usage: /blog/ search=y\n",
        better=_GOOD + "Content-Usage: /blog/ search=y, train-ai=n\n",
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
        better=_GOOD,
    ),
)
