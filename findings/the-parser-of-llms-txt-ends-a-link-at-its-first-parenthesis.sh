#!/usr/bin/env bash
# The parser of llms.txt's own authors reads /wiki/Robots_(film) as /wiki/Robots_(film, and drops the note behind it.
#
# Version: llms-txt 0.0.7 (PyPI), by the authors of the specification and with its text.
# Source: that text: a list is one of Markdown, whose items have a link "[name](url)", then maybe ":" and notes;
# CommonMark, section 6.3: a link's URL contains pairs of parentheses, or anything within angle brackets.
# Expected: the URL that each reader of Markdown finds. Wikipedia has parentheses in each title of its kind.
# Behaviour: a URL ends at its first closing parenthesis, and what is behind it is no note. Angle brackets, and a title
# in quotation marks, become part of the URL.
# What follows: the agent that reads the file asks for a page that is not there, and robots.txt is asked about it, too.
# Output:
#   - [A](https://example.com/a): a note -> https://example.com/a | a note
#   - [B](https://example.com/wiki/Robots_(film)): a note -> https://example.com/wiki/Robots_(film | None
#   - [C](<https://example.com/c>): a note -> <https://example.com/c> | a note
#   - [D](https://example.com/d "title"): a note -> https://example.com/d "title" | a note
source "$(dirname "$0")/common.sh"

pypi llms-txt==0.0.7
"$python" - <<'PY' | confirm
from llms_txt import parse_llms_file

LINKS = (
    "[A](https://example.com/a)",
    "[B](https://example.com/wiki/Robots_(film))",
    "[C](<https://example.com/c>)",
    '[D](https://example.com/d "title")',
)
for link in LINKS:
    item = f"- {link}: a note"
    (found,) = parse_llms_file(f"# Robots\n\n> A summary\n\n## Pages\n\n{item}\n").sections["Pages"]
    print(f"{item} -> {found.url} | {found.desc}")
PY
