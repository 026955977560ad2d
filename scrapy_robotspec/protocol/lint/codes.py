"""The linter's codes and what each of them stands for. Nothing is looked for here.

Codes are stable: a code keeps its meaning, and one that is given up is not used again. RS1xx speak
of lines and the file, RS2xx of groups, RS3xx of rules, RS4xx of other lines, RS9xx pass on advice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.protocol.models import Severity

CODES: Mapping[str, str] = {
    "RS101": "A line that is not of the form field: value.",
    "RS102": "A field that is misspelt.",
    "RS103": "A field that the edition does not know.",
    "RS104": "Octets that are no UTF-8.",
    "RS105": "A line of which only a part is read.",
    "RS106": "A control character within a line.",
    "RS151": "The file is longer than the parsing limit.",
    "RS152": "The file is an HTML page.",
    "RS153": "The file is written in UTF-16.",
    "RS201": "A rule that stands in no group.",
    "RS202": "A user-agent line that names no crawler.",
    "RS203": "Text behind a crawler's name that is ignored.",
    "RS204": "A group that no crawler can follow.",
    "RS205": "A crawler that an earlier group names as well.",
    "RS206": "A group without rules.",
    "RS207": "A name that does not count beside the star.",
    "RS208": "A blank line among user-agent lines.",
    "RS301": "A path that does not start with a slash.",
    "RS302": "A dollar before the end of a path.",
    "RS303": "A rule that stands in the group twice.",
    "RS304": "A path that is both allowed and disallowed.",
    "RS305": "A star at the end of a path.",
    "RS306": "A star or dollar that is an ordinary character.",
    "RS307": "A rule without a path that changes nothing.",
    "RS308": "A percent sign that starts no escape.",
    "RS309": "A blank within a path.",
    "RS401": "A sitemap whose URL is not absolute or is broken.",
    "RS402": "A crawl-delay that is no number of seconds.",
    "RS901": "Advice: a directory without its closing slash.",
    "RS902": "Advice: Allow where Disallow may do.",
    "RS903": "Advice: no blank behind the colon.",
    "RS904": "Advice: exclude whole directories to save lines.",
}

#: What is written there is not read, or not as it is written. What is neither here nor advice is a
#: warning: the file is read as it is written, though perhaps not as it was meant.
ERRORS = frozenset(
    {
        "RS101", "RS102", "RS105", "RS151", "RS152", "RS153", "RS201", "RS202", "RS204", "RS301",
        "RS306", "RS401", "RS402",
    }
)  # fmt: skip

#: A matter of taste. Every other file goes against it somewhere, and nothing is lost by that.
ADVICE = frozenset({"RS305", "RS901", "RS902", "RS903", "RS904"})

#: Findings of one code that are listed for one file; the others are only counted.
LISTED = 100

#: The same for codes that repeat themselves: what holds for the first line holds for all.
LISTED_ONCE = frozenset({"RS902", "RS903"})


def severity(code: str) -> Severity:
    """How much a finding of that code matters."""
    if code in ADVICE:
        return "advice"
    return "error" if code in ERRORS else "warning"
