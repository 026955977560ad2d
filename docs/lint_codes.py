"""Write the part of ``docs/lint.md`` that lists the linter's codes; ``--check`` only compares.

python docs/lint_codes.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from scrapy_robotspec.protocol.lint.findings import CODES, Code

PAGE = Path(__file__).with_name("lint.md")
START = "<!-- written by docs/lint_codes.py -->\n"
PARTS = {
    "RS1": "Lines and files",
    "RS2": "Groups",
    "RS3": "Rules",
    "RS4": "Sitemaps, crawl delays, licenses",
    "RS5": "Usage preferences",
    "RS9": "Advice",
}


def escaped(text: str) -> str:
    """Plain text as Markdown."""
    return re.sub(r"([\\`*_<>\[\]{}|])", r"\\\1", text)


def row(code: Code) -> str:
    """The row of one code: its severity and what it finds."""
    edition = f" (edition `{code.edition}`)" if code.edition else ""
    message = f"{escaped(code.message)}{edition}"
    return f"| {code.code} `{code.name}` | {code.severity} | {message} |\n"


def listing() -> str:
    """A table of codes for each part."""
    return "\n".join(
        f"## {title}\n\n| code | severity | finding |\n|---|---|---|\n"
        + "".join(row(code) for code in CODES.values() if code.code.startswith(part))
        for part, title in PARTS.items()
    )


def main() -> int:
    """Write the page; 1 where ``--check`` finds a difference."""
    text = PAGE.read_text(encoding="utf-8")
    new = text.partition(START)[0] + START + "\n" + listing()
    if "--check" in sys.argv:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
