#!/usr/bin/env bash
# The parser of llms.txt's own authors reads no file that has just what their specification requires.
#
# Version: llms-txt 0.0.7 (PyPI), by the authors of the specification and with its text.
# Source: that text: "An H1 with the name of the project or site. This is the only required section"; the details
# below the title are optional, and a list of files is one of Markdown.
# Expected: a title alone is a file; a list may begin with "*", as in Markdown; line ends may be CR LF.
# Behaviour: without a summary, or with line ends of CR LF, nothing is found, and a TypeError follows from
# that; of a list with "*" an AttributeError, for the whole file.
# What follows: a reader that relies on the parser has nothing of a site that keeps to the specification; a site that
# checks its file with it writes a summary that it does not need.
# Output:
#   title, summary, list: 1 link
#   title alone: TypeError
#   title and list: TypeError
#   list with "*": AttributeError
#   CR LF: TypeError
source "$(dirname "$0")/common.sh"

pypi llms-txt==0.0.7
"$python" - <<'PY' | confirm
from llms_txt import parse_llms_file

WHOLE = "# Robots\n\n> A summary\n\n## Pages\n\n- [A](https://example.com/a): a note\n"
FILES = {
    "title, summary, list": WHOLE,
    "title alone": "# Robots\n",
    "title and list": WHOLE.replace("> A summary\n\n", ""),
    'list with "*"': WHOLE.replace("- [", "* ["),
    "CR LF": WHOLE.replace("\n", "\r\n"),
}
for name, text in FILES.items():
    try:
        found = f"{len(parse_llms_file(text).sections['Pages'])} link"
    except (AttributeError, TypeError) as error:
        found = type(error).__name__
    print(f"{name}: {found}")
PY
