"""RS9xx: advice of the specifications."""

from __future__ import annotations

from scrapy_robotspec.protocol.lint.codes.code import Code

CODES = (
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
        message="No blank follows the colon.",
        why="No crawler needs the blank. The specifications recommend it for people who read the "
        "file.",
        remedy="Write a blank after the colon.",
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
