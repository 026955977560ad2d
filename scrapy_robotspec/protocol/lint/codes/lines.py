"""RS1xx: lines and whole files."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

_GOOD = "User-agent: *\nDisallow: /private/\n"

CODES = (
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
        message="The file is written in UTF-16.",
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
        message="No line of the file is a line of a robots.txt file.",
        why="Crawlers ignore invalid lines, so everything is allowed.",
        remedy="Serve a robots.txt file, or status 404 if the site needs none.",
        example="Page not found\n",
        better=_GOOD,
    ),
)
